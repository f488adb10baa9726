#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "bandana/lab/spec.h"
#include "bandana/lab/summary.h"

namespace bandana::lab {

struct RunOptions {
  std::string out;      ///< folder of the results
  int threads = 0;      ///< 0: one a core. Results do not depend on it
  bool resume = false;  ///< go on with an interrupted run
  bool quiet = false;
  std::string command;  ///< how to run it again, for the report
  std::string trace;  ///< a file for every phase's plan, release, estimate and active set, or a federation's
                      ///< decisions; empty: none
  /// What the finished summary adds to the report's data; empty: nothing.
  std::function<Json(const Json& summary)> conclude = nullptr;
};

/// Runs every replicate of every point and writes spec.toml, results.csv, summary.json and report.html. After
/// `stop` turns true it ends soon with kCancelled, leaving what --resume goes on from. Returns the summary.
absl::StatusOr<Json> RunExperiment(const Spec& spec, const RunOptions& options,
                                   const std::atomic<bool>& stop);

}  // namespace bandana::lab
