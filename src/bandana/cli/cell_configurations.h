#pragma once

#include <string>
#include <vector>

namespace bandana::cli {

/// One of 240 settings of a radio cell. The demo looks for the one that serves the users best (P1's
/// motivating example).
struct CellConfiguration {
  double tilt_degrees;
  double power_dbm;
  double inactivity_seconds;
  std::vector<double> features;  ///< the action, with norm at most 1

  std::string Describe() const;
};

std::vector<CellConfiguration> CellConfigurations();

}  // namespace bandana::cli
