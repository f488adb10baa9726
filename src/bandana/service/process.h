#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bandana/privacy/guarantee.h"
#include "bandana/service/deployed.h"
#include "bandana/service/machine.h"
#include "bandana/service/runtime.h"

namespace bandana::service {

/// Inputs of a machine that do not come from another process, such as the time.
struct LocalInputs {
  std::string link;  ///< under this name the machine takes them
  /// Returns what has come since the last call.
  std::function<std::vector<std::string>(absl::Time now)> take;
  /// Returns when `take` should be called at the latest.
  std::function<absl::Time()> due;
  /// Is given the function that makes the process call `take` soon. It may be called by any thread until the
  /// process ends.
  std::function<void(std::function<void()> wake)> on_start;
  /// Is called when the process ends: nothing more is taken.
  std::function<void()> on_end;
};

/// A process, without the machine that it runs.
struct ProcessParams {
  Runtime::Params runtime;                  ///< without the times that follow from `deployed`
  std::string listen;                       ///< empty: nobody dials this process
  std::map<std::string, std::string> dial;  ///< host:port by link
  Deployed deployed;
  DpGuarantee budget{0, 0};  ///< of one unit; only without a store, whose header says it
  bool sends_early = false;
  LocalInputs local = {};  ///< without functions: there are none
  std::stop_token stop;
  std::function<void(const std::string& address)> on_listening;
};

struct ProcessReport {
  std::uint64_t bytes_in = 0;  ///< bodies of messages
  std::uint64_t bytes_out = 0;
  double seconds = 0;       ///< in this process
  DpGuarantee spent{0, 0};  ///< the largest amount that any one unit has spent, over the life of the store
};

/// Runs the machine until its run is over, and returns its error if it has one. If the store has an open run,
/// goes on with it.
///
///   - kUnavailable: the port is taken; another process is not there, or was lost; the disk fails. With a
///     store the run is still open, and the same command goes on with it.
///   - kCancelled: `stop`. With a store the run is still open.
///   - kFailedPrecondition, kAlreadyExists, kPermissionDenied: another process refused this one, or the store
///     belongs to another spec, program or run.
///   - kAborted: this store, or that of another process, is an old copy.
///   - kDataLoss: something in the store does not fit.
absl::StatusOr<ProcessReport> RunProcess(ProcessParams params, Machine& machine);

}  // namespace bandana::service
