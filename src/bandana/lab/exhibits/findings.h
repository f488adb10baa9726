#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/lab/exhibits/statistics.h"
#include "bandana/lab/summary.h"

namespace bandana::lab {

/// A choice of points: those whose varied keys have these values. The value null chooses points that do not
/// have the key.
using Where = std::map<std::string, Json>;

std::string NameOf(const Where& where);

/// Statistics over replicates of the regret up to round t.
struct CurveOverTime {
  std::vector<double> t;
  std::vector<double> mean;
  std::vector<double> sd;
  std::vector<double> median;
};

/// Access to a run's summary (interfaces.md) for claims. If --set changed the run so that it lacks a point or
/// metric, the getters return an error that says so.
class Findings {
 public:
  explicit Findings(const Json& summary) : summary_(summary) {}

  /// Returns the final values of a metric at the one point that `where` chooses.
  absl::StatusOr<Sample> Final(const Where& where, const std::string& metric = "regret") const;

  /// Returns the final values of a metric at all points that `where` chooses, along a key of numbers. Fails
  /// if two points have the same value of the key, or if there are fewer than two points.
  absl::StatusOr<Line> Along(const std::string& key, const Where& where,
                             const std::string& metric = "regret") const;

  absl::StatusOr<CurveOverTime> Curve(const Where& where) const;

  /// Returns the one point that `where` chooses. Fails if there is none or several.
  absl::StatusOr<const Json*> ThePoint(const Where& where) const;

  const Json& summary() const { return summary_; }

 private:
  std::vector<const Json*> Points(const Where& where) const;

  const Json& summary_;
};

}  // namespace bandana::lab
