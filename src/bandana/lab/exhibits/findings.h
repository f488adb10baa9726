#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/lab/exhibits/statistics.h"
#include "bandana/lab/summary.h"

namespace bandana::lab {

/// Which points are meant: those whose varied keys have these values. null: those that do not have the key.
using Where = std::map<std::string, Json>;

std::string ToText(const Where& where);

/// Regret over time, over replicates.
struct CurveOverTime {
  std::vector<double> t;
  std::vector<double> mean;
  std::vector<double> sd;
  std::vector<double> median;
};

/// A summary (interfaces.md) as claims look at it. What is not there, since a run was changed by --set, is an
/// error that says so.
class Findings {
 public:
  explicit Findings(const Json& summary) : summary_(summary) {}

  /// A metric of the one point that `where` means.
  absl::StatusOr<Sample> Final(const Where& where, const std::string& metric = "regret") const;

  /// A metric of all points that `where` means, along a key of numbers. Two points at one place, or fewer
  /// than two in all, are errors.
  absl::StatusOr<Line> Along(const std::string& key, const Where& where,
                             const std::string& metric = "regret") const;

  absl::StatusOr<CurveOverTime> Curve(const Where& where) const;

  /// The one point that `where` means.
  absl::StatusOr<const Json*> ThePoint(const Where& where) const;

  const Json& summary() const { return summary_; }

 private:
  std::vector<const Json*> Points(const Where& where) const;

  const Json& summary_;
};

}  // namespace bandana::lab
