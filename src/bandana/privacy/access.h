#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "bandana/privacy/raw.h"
#include "bandana/privacy/released.h"
#include "bandana/privacy/report.h"

namespace bandana {

/// The only door into Raw, Report and Released: its friends are the complete list of what may open raw data
/// or mint a released value.
class Access {
  friend class GridMean;  // sums and averages; its own friends are the mechanisms with a proof note
  friend class Wire;      // reports to integers and back, for the drivers alone

  template <class T>
  static const T& Open(const Raw<T>& raw) {
    return raw.value_;
  }
  static const std::vector<std::int64_t>& Open(const Report& report) { return report.units_; }
  static Report Seal(std::vector<std::int64_t> units) { return Report(std::move(units)); }
  static std::vector<std::int64_t>& Units(ReportSum& sum) { return sum.units_; }
  static const std::vector<std::int64_t>& Units(const ReportSum& sum) { return sum.units_; }
  static std::int64_t& Reports(ReportSum& sum) { return sum.reports_; }
  template <class T>
  static Released<T> Release(T value, double noise_stddev) {
    return Released<T>(std::move(value), noise_stddev);
  }
};

}  // namespace bandana
