#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bandana/privacy/claim.h"
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
///
/// A store does not trust its caller. It refuses a transaction that breaks one of the rules in store/rules.h,
/// above all these: no charge is taken back, no release is charged or drawn twice, and no message is stored
/// before the charges that it follows from.
class Store {
 public:
  virtual ~Store() = default;

  /// Returns the file, as errors name it.
  virtual const std::string& name() const = 0;

  /// Makes all changes durable, or none. It is durable when this returns OK. Fails with kInvalidArgument if
  /// the changes break a rule.
  virtual absl::Status Commit(std::span<const Change> changes) = 0;

  /// Returns all runs, in the order in which they began. Only the last one may be open.
  virtual absl::StatusOr<std::vector<Run>> Runs() = 0;

  virtual absl::StatusOr<std::optional<std::string>> Meta(const std::string& name) = 0;

  /// The functions below are about the open run. Inputs come by number, outputs and acknowledgements by link
  /// and number, draws as they were added. `visit` must not call functions of the store.
  virtual absl::StatusOr<std::optional<PutSnapshot>> Snapshot() = 0;
  virtual absl::Status ForEachInput(absl::FunctionRef<absl::Status(const AddInput&)> visit) = 0;
  virtual absl::Status ForEachOutput(absl::FunctionRef<absl::Status(const PutOutput&)> visit) = 0;
  virtual absl::Status ForEachAcknowledgement(absl::FunctionRef<absl::Status(const Acknowledge&)> visit) = 0;
  virtual absl::Status ForEachDraw(absl::FunctionRef<absl::Status(const AddDraw&)> visit) = 0;

  /// Returns how many lines the ledger has.
  virtual absl::StatusOr<std::uint64_t> Lines() = 0;

  /// Visits the ledger's lines from number `from` on.
  virtual absl::Status ForEachLine(std::uint64_t from,
                                   absl::FunctionRef<absl::Status(const AddLine&)> visit) = 0;

  /// A ledger of this store sets the flag to true while it has charges that no transaction holds. Meanwhile
  /// the store refuses outputs, snapshots and the end of the run.
  virtual void WatchCharges(std::shared_ptr<const bool> waiting) { charges_wait_ = std::move(waiting); }

 protected:
  bool charges_wait() const { return charges_wait_ != nullptr && *charges_wait_; }

 private:
  std::shared_ptr<const bool> charges_wait_;
};

/// Returns 16 bytes as 32 hexadecimal digits, as runs are written in the ledger and in errors.
std::string RunName(std::string_view run);

/// The name under which a back-up keeps the time at which it was made (store/backup.h). A file with this name
/// is read, but never used as a store.
inline constexpr char kCopyMeta[] = "copy";

/// Returns the key of a release's draw: "RUN/NODE/EPOCH/QUESTION".
std::string DrawKey(std::string_view run_name, const ReleaseKey& key);

}  // namespace bandana::store
