#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "bandana/privacy/raw.h"
#include "bandana/privacy/released.h"
#include "bandana/privacy/report.h"

namespace bandana {

/// The only door into Raw, Report, Sealed and Released: its friends are the complete list of what may open
/// raw data or mint a released value.
class Access {
  friend class GridMean;  // sums and averages; its own friends are the mechanisms with a proof note
  friend class Release;   // draws and journals, through a Context
  friend class Wire;      // reports to integers and back, for the drivers alone

  using Units = std::vector<std::int64_t>;

  template <class T>
  static const T& Open(const Raw<T>& raw) {
    return raw.value_;
  }
  static const Units& Open(const Report& report) { return report.units_; }
  static const Units& Open(const Sealed& sealed) { return sealed.units_; }
  static Report MakeReport(Units units) { return Report(std::move(units)); }
  static Sealed Seal(Units units) { return Sealed(std::move(units)); }
  static NodeId& Origin(Report& report) { return report.origin_; }
  static NodeId Origin(const Report& report) { return report.origin_; }

  static MeanQuery& Query(ReportSum& sum) { return sum.query_; }
  static const MeanQuery& Query(const ReportSum& sum) { return sum.query_; }
  static Units& Totals(ReportSum& sum) { return sum.units_; }
  static const Units& Totals(const ReportSum& sum) { return sum.units_; }
  static absl::flat_hash_set<NodeId>& Origins(ReportSum& sum) { return sum.origins_; }
  static const absl::flat_hash_set<NodeId>& Origins(const ReportSum& sum) { return sum.origins_; }

  template <class T>
  static Released<T> Mint(T value, double noise_stddev) {
    return Released<T>(std::move(value), noise_stddev);
  }
};

}  // namespace bandana
