#pragma once

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/bandit/recorder.h"
#include "bandana/lab/spec.h"

namespace bandana::lab {

/// Returns the names of the metrics in a row of results.csv, in order: those that all runs have, and those of
/// the time models and worlds of the spec's points.
std::vector<std::string> MetricNames(const Spec& spec);

/// Returns the names of the metrics that all runs have.
std::vector<std::string> CommonMetricNames();

/// Returns the value of a metric at a checkpoint; NaN if the run has no such metric.
double MetricOf(const Checkpoint& checkpoint, const std::string& name);

/// The file results.csv. It has one row per point, replicate and checkpoint, sorted in that order, and a
/// column for each key in which points differ (docs/results.md). Replicates are appended whole and in order,
/// so the file is always a prefix of the final one, and an interrupted run can continue from it.
class ResultsFile {
 public:
  /// Makes the folder and a new file in it. Fails if the folder exists.
  static absl::StatusOr<ResultsFile> Create(const std::string& folder, const Spec& spec);

  /// Opens the file of an earlier run. An incomplete replicate at its end is dropped and will be run again.
  /// Fails if the folder has no results or those of another spec; it is then left as it is.
  static absl::StatusOr<ResultsFile> Resume(const std::string& folder, const Spec& spec);

  /// Returns how many replicates are done, counted point by point.
  std::size_t done() const { return done_; }

  /// Appends the next replicate and flushes it.
  absl::Status Append(const std::vector<Checkpoint>& checkpoints);

  /// The rows so far: values[point][replicate][checkpoint][metric].
  using Values = std::vector<std::vector<std::vector<std::vector<double>>>>;
  const Values& values() const { return values_; }

 private:
  ResultsFile(std::string path, const Spec& spec);
  absl::Status ReadRows();
  absl::Status Rewrite();
  std::string Rows(const std::vector<std::vector<double>>& replicate) const;

  std::string path_;
  const Spec* spec_;
  std::vector<std::string> metrics_;       // the names of the metrics
  std::string header_;                     // the first line of the file
  std::vector<std::string> point_fields_;  // what the rows of each point begin with
  std::vector<std::vector<Count>> times_;  // the checkpoints of each point
  std::ofstream out_;
  std::size_t done_ = 0;
  Values values_;
};

/// Writes a file through a temporary file beside it, so that a failure leaves the old file as it was.
absl::Status WriteFile(const std::string& path, std::string_view content);

}  // namespace bandana::lab
