#pragma once

/// The lab: runs an experiment that stands in TOML, as `bandana run` does, with the same results in the same
/// files.

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/core/ids.h"
#include "bandana/core/value.h"
#include "bandana/lab/run_progress.h"
#include "bandana/privacy/claim.h"

namespace bandana {

struct RunSpecOptions {
  std::string out;                          ///< the folder of the results; it must be new unless `resume`
  std::vector<std::string> set = {};        ///< assignments key=value that override the spec
  int threads = 0;                          ///< 0: one thread per core. Results do not depend on it
  bool resume = false;                      ///< whether to continue an interrupted run
  const std::atomic<bool>* stop = nullptr;  ///< ends the run with kCancelled soon after it turns true
  RunProgress* progress = nullptr;
};

/// The values that a metric has at the end of a point's replicates. NaN: unknown, such as the spread of one
/// replicate.
struct MetricSummary {
  double mean = 0;
  double sd = 0;
  double se = 0;
  std::vector<double> values;
};

/// A metric over time, over all replicates of a point.
struct CurveSummary {
  std::vector<double> mean;
  std::vector<double> sd;
  std::vector<double> median;
  std::vector<double> q10;
  std::vector<double> q90;
};

/// One combination of settings.
struct PointSummary {
  std::string label;
  std::string algorithm;
  std::map<std::string, Value> point;  ///< the keys in which points differ
  std::map<std::string, MetricSummary> metrics;
  std::vector<Count> t;  ///< the rounds of the curves
  std::map<std::string, CurveSummary> curves;
  std::vector<Claim> claims;  ///< what is promised; empty: nothing
  std::string void_reason;    ///< why the claims do not hold for this run; empty: they hold
};

struct RunSummary {
  std::string folder;  ///< with spec.toml, results.csv, summary.json and report.html
  std::vector<PointSummary> points;
};

/// Runs the experiment in a TOML file. Errors name the file, the line, the key, the value and what is
/// accepted.
absl::StatusOr<RunSummary> RunSpec(const std::string& file, const RunSpecOptions& options);

/// Does what RunSpec does, with TOML text. Relative paths in it are resolved against the working folder.
absl::StatusOr<RunSummary> RunSpecText(const std::string& toml, const RunSpecOptions& options);

}  // namespace bandana
