#pragma once

#include <string>
#include <vector>

namespace bandana::cli {

/// The demo's question: which of 240 settings of a radio cell serves its users best (P1's motivating
/// example).
struct CellConfiguration {
  double tilt_degrees;
  double power_dbm;
  double inactivity_seconds;
  std::vector<double> features;  ///< of norm at most 1

  std::string Describe() const;
};

std::vector<CellConfiguration> CellConfigurations();

}  // namespace bandana::cli
