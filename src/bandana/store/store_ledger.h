#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/privacy/ledger/ledger.h"
#include "bandana/store/change.h"
#include "bandana/store/seal.h"
#include "bandana/store/store.h"

namespace bandana::store {

/// The ledger of a store. A charge becomes a line and a draw, which go into the transaction of the step that
/// asked for them: they are durable together with everything that follows from them, or not at all.
class StoreLedger final : public ReleaseBook {
 public:
  /// Reads and verifies the lines of the store. A new store gets its first line with the first transaction.
  /// Fails with kFailedPrecondition if the store is that of another deployment or configuration.
  static absl::StatusOr<std::unique_ptr<StoreLedger>> Open(Store& store, const LedgerHeader& header);

  /// Begins to charge for a run (16 bytes), or goes on. `draws` holds those that are journaled already.
  void EnterRun(const std::string& run);
  void AddJournaled(const std::string& key, Report draw);

  /// Returns the draw of an earlier call with this key in this run, or charges and draws. A release of this
  /// run whose draw was erased is not made again: kFailedPrecondition.
  absl::StatusOr<Report> Once(const ReleaseKey& key, const Cost& cost, const UnitRanges& units,
                              absl::FunctionRef<absl::StatusOr<Report>()> draw) override;

  /// Nothing is durable before the engine commits; the engine waits for that before anything leaves.
  absl::Status Commit() override { return absl::OkStatus(); }

  const Accounts& accounts() const override { return accounts_; }
  const LedgerHead& head() const override { return head_; }

  /// Moves the lines and draws since the last call to the end of a transaction. Draws are sealed.
  void MoveChangesTo(Transaction& transaction, Sealer& sealer);

  /// Forgets the draws, because a snapshot has erased them.
  void EraseDraws() { journal_.clear(); }

 private:
  LedgerHeader header_;
  std::string run_;
  Accounts accounts_;
  LedgerHead head_;
  absl::flat_hash_map<std::string, Report> journal_;
  absl::flat_hash_set<std::string> released_;  // keys of this run
  Transaction pending_;
};

}  // namespace bandana::store
