#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/bandit/recorder.h"
#include "bandana/lab/results.h"
#include "bandana/lab/run_progress.h"
#include "bandana/lab/spec.h"
#include "bandana/lab/summary.h"

namespace bandana::lab {

struct RunOptions {
  std::string out;      ///< the folder of the results
  int threads = 0;      ///< 0: one thread per core. Results do not depend on it
  bool resume = false;  ///< whether to continue an interrupted run
  bool quiet = false;
  std::string command;  ///< the command line that runs it again, for the report
  std::string trace;    ///< the file for a trace: every phase's plan, release, estimate and active set, or
                        ///< every agent's decisions; empty: no trace
  RunProgress* progress = nullptr;  ///< counts replicates as they finish
  /// Runs a replicate of a point elsewhere, for example in another process, and returns its checkpoints. It
  /// is called from `threads` threads. Empty: replicates run here.
  std::function<absl::StatusOr<std::vector<Checkpoint>>(std::size_t point, std::uint32_t replicate)>
      replicate = nullptr;
  /// Returns more data for the report, from the rows and the finished summary, to which it may add; empty:
  /// there is none.
  std::function<Json(Json& summary, const ResultsFile::Values& rows)> conclude = nullptr;
};

/// Runs every replicate of every point and writes spec.toml, results.csv, summary.json and report.html.
/// Returns the summary. After `stop` turns true it soon ends with kCancelled, and --resume can continue from
/// the files that it leaves.
absl::StatusOr<Json> RunExperiment(const Spec& spec, const RunOptions& options,
                                   const std::atomic<bool>& stop);

}  // namespace bandana::lab
