#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/store/change.h"

namespace bandana::store {

struct Run {
  std::string run;
  std::string spec;
  RunState state = RunState::kOpen;
  std::string why;
  absl::Time began;
  absl::Time ended;  ///< infinite future while the run is open
};

/// Keeps what a process of a deployment must not forget: its run, what it has taken, what it has still to
/// send, what it has drawn, and the ledger. One process at a time uses a store, from one thread.
///
/// Errors: kUnavailable if another process uses it or the disk fails; kDataLoss if something in it does not
/// fit; kFailedPrecondition if its schema is not this program's. After a failed Commit nobody knows whether
/// the transaction is durable: the store refuses everything else, and its process must end.
class Store {
 public:
  virtual ~Store() = default;

  /// Makes all changes durable, or none. It is durable when this returns OK.
  virtual absl::Status Commit(std::span<const Change> changes) = 0;

  /// Returns all runs, in the order in which they began. Only the last one may be open.
  virtual absl::StatusOr<std::vector<Run>> Runs() = 0;

  virtual absl::StatusOr<std::optional<std::string>> Meta(const std::string& name) = 0;

  /// The functions below are about the open run. Rows come in ascending order.
  virtual absl::StatusOr<std::optional<PutSnapshot>> Snapshot() = 0;
  virtual absl::Status ForEachInput(absl::FunctionRef<absl::Status(const AddInput&)> visit) = 0;
  virtual absl::Status ForEachOutput(absl::FunctionRef<absl::Status(const PutOutput&)> visit) = 0;
  virtual absl::Status ForEachAcknowledgement(absl::FunctionRef<absl::Status(const Acknowledge&)> visit) = 0;
  virtual absl::Status ForEachDraw(absl::FunctionRef<absl::Status(const AddDraw&)> visit) = 0;

  /// Visits the ledger's lines from number `from` on.
  virtual absl::Status ForEachLine(std::uint64_t from,
                                   absl::FunctionRef<absl::Status(const AddLine&)> visit) = 0;
};

}  // namespace bandana::store
