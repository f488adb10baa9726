#pragma once

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/bandit/recorder.h"
#include "bandana/lab/spec.h"

namespace bandana::lab {

/// Which metrics a run has beside those that all have.
struct Metrics {
  bool agents = false;   ///< of a federation of agents
  bool network = false;  ///< of a network of them, by its messages
  bool users = false;    ///< of users with local privacy
  bool value = false;    ///< of a log
};

/// Names of the metrics in a row of results.csv, in order, and a checkpoint's values under them.
std::vector<std::string> MetricNames(const Metrics& metrics = {});
std::vector<double> MetricValues(const Checkpoint& checkpoint, const Metrics& metrics = {});

/// What some point of the spec needs.
Metrics MetricsOf(const Spec& spec);

/// results.csv: one row a (point, replicate, checkpoint), in that order. Replicates are appended whole and in
/// order, so whatever is in the file is a prefix of the final one and an interrupted run goes on from it.
class ResultsFile {
 public:
  /// A new file. An existing folder is an error that says so.
  static absl::StatusOr<ResultsFile> Create(const std::string& folder, const Spec& spec);

  /// An earlier run's file. What is not a whole replicate at its end is dropped (and done again); a folder
  /// that holds another spec's results, or none, is an error and is left alone.
  static absl::StatusOr<ResultsFile> Resume(const std::string& folder, const Spec& spec);

  /// How many replicates are done, counting point by point.
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
  Metrics metrics_;
  std::vector<std::vector<Count>> times_;  // of each point
  std::ofstream out_;
  std::size_t done_ = 0;
  Values values_;
};

/// Writes a whole file or leaves the old one: through a temporary beside it.
absl::Status WriteFile(const std::string& path, std::string_view content);

}  // namespace bandana::lab
