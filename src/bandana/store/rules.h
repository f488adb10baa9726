#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "bandana/privacy/ledger/accounts.h"
#include "bandana/privacy/ledger/record.h"
#include "bandana/privacy/ledger/verifier.h"
#include "bandana/store/change.h"

namespace bandana::store {

/// The rules that every store enforces, whoever calls it:
/// 1. Runs: at most one is open, and no run begins twice.
/// 2. Inputs: each has the number after the last one, so that they are taken again in the same order.
/// 3. Outputs: none comes back after it was acknowledged. None is stored while the ledger has charges that
///    the store does not hold. A snapshot is followed by all outputs that wait, because what was sealed
///    before it can be opened by nobody.
/// 4. The ledger: a line is only ever added, continues the chain of hashes, charges for the open run, and
///    costs at least nothing. No release is charged twice.
/// 5. Draws: each belongs to a charge of the same transaction, and a charge has one draw at most.
/// 6. Snapshots: they contain all inputs, and the generation of the ratchet only grows.
class Rules {
 public:
  /// Where the store stands. A store that is opened fills it in.
  struct State {
    struct Link {
      std::uint64_t acknowledged = 0;
      std::set<std::uint64_t> waiting;  ///< outputs that are not acknowledged
    };

    /// Takes a line of the store that is there already. Lines of the open run must all be taken, others may
    /// be left out.
    absl::Status TakeLine(const AddLine& line);

    std::set<std::string> runs;
    std::string open_run;  ///< as RunName; empty if none is open
    std::uint64_t last_input = 0;
    std::optional<std::uint64_t> generation;
    std::map<std::string, Link> links;
    std::optional<LedgerHead> head;
    Measure measure = Measure::kApproximateDp;  ///< of the ledger, if it has a line
    ReleaseSet charged;                         ///< in the open run
  };

  void Load(State state) { state_ = std::move(state); }

  /// Fails with kInvalidArgument if the transaction breaks a rule. Otherwise the state is that after the
  /// transaction. After an error the rules must not be used.
  absl::Status Check(std::span<const Change> changes, bool charges_wait);

  const State& state() const { return state_; }

 private:
  absl::Status Take(const BeginRun& begin);
  absl::Status Take(const EndRun& end);
  absl::Status Take(const AddInput& input);
  absl::Status Take(const PutSnapshot& snapshot);
  absl::Status Take(const PutOutput& output);
  absl::Status Take(const Acknowledge& acknowledge);
  absl::Status Take(const AddLine& line);
  absl::Status Take(const AddDraw& draw);
  absl::Status Take(const PutMeta& meta);
  absl::Status NeedsRun(const char* what) const;
  absl::Status CheckSealedAgain() const;

  State state_;
  // The members below are about one transaction.
  bool charges_wait_ = false;
  bool snapshot_ = false;  // it has one
  std::set<std::pair<std::string, std::uint64_t>> sealed_again_;
  absl::flat_hash_set<std::string> undrawn_;  // releases that it charges and that have no draw yet
};

}  // namespace bandana::store
