#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/lab/judge/statistics.h"
#include "bandana/lab/results.h"
#include "bandana/lab/spec.h"
#include "bandana/lab/summary.h"

namespace bandana::lab {

/// Values of keys. In a choice of points, a key with the text "largest" or "smallest" takes the points whose
/// value of the key is the largest (smallest) number among those that the other keys leave.
using Where = std::map<std::string, Json>;

/// A choice of points.
struct Choice {
  Where exactly;     ///< the point has these keys with these values
  Where if_present;  ///< the point has these values, or lacks the key, because the key has no effect there
};

/// Returns the choice in words, for messages.
std::string NameOf(const Choice& choice);

/// A point of a finished run.
struct MeasuredPoint {
  Where keys;        ///< its settings, and facts such as graph.cliques
  const Json* json;  ///< its entry in summary.json
  /// Its rows of results.csv: rows[replicate][checkpoint][metric]; null if they are not known.
  const std::vector<std::vector<std::vector<double>>>* rows = nullptr;

  /// Returns one value per replicate. Fails if the run has no such metric.
  absl::StatusOr<Sample> Final(const std::string& metric) const;

  std::size_t replicates() const;
};

/// The statistics over replicates of the regret up to round t.
struct CurveOverTime {
  std::vector<double> t;
  std::vector<double> mean;
  std::vector<double> median;
  std::vector<Sample> samples;  ///< one value per replicate at each t; empty if they are not known
};
absl::StatusOr<CurveOverTime> CurveOf(const MeasuredPoint& point);

/// A finished run, as claims see it. It refers to the summary, and to the rows if it is given them. Both must
/// outlive it.
class Findings {
 public:
  /// Points have the keys that vary in the run.
  explicit Findings(const Json& summary);

  /// Points have all their settings. `spec` is the spec of the run.
  Findings(const Json& summary, const Spec& spec);

  /// Adds the rows of results.csv, from which a curve over time has one value per replicate at each
  /// checkpoint. The summary has only their mean and median.
  Findings& AddRows(const ResultsFile::Values& rows);

  /// Returns the points of a choice, in the order of the run.
  std::vector<const MeasuredPoint*> Points(const Choice& choice) const;

  /// Returns the one point of a choice. Fails if there is none or several.
  absl::StatusOr<const MeasuredPoint*> ThePoint(const Choice& choice) const;

  /// Returns the numbers that a key has at the points of a choice, ascending.
  std::vector<double> ValuesOf(const std::string& key, const Choice& choice) const;

 private:
  std::vector<MeasuredPoint> points_;
};

}  // namespace bandana::lab
