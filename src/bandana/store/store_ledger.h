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

/// The ledger of a store. A charge becomes a line, and its noise is drawn from a seed of its own. Both go into
/// the transaction of the step that asked for them: they are durable together with everything that follows
/// from them, or not at all.
///
/// After a crash, a role takes its messages again and asks for the same releases. Such a release costs nothing
/// and is drawn again from the same seed. So the role makes the same noise, also the noise that it keeps for
/// later releases.
class StoreLedger final : public ReleaseBook {
 public:
  /// Reads and verifies the lines of the store. A new store gets its first line with the first transaction.
  /// Fails with kFailedPrecondition if the store is that of another deployment or configuration.
  static absl::StatusOr<std::unique_ptr<StoreLedger>> Open(Store& store, const LedgerHeader& header);

  /// Begins to charge for a run (16 bytes), or goes on. AddSeed then tells the seeds that are journaled.
  void EnterRun(const std::string& run);
  void AddSeed(const std::string& key, const Key& seed);

  /// Returns the seed of a release: the journaled one, or a new one from the operating system's entropy. Call
  /// it before Once, and draw with it. Fails with kFailedPrecondition if this run has made the release and its
  /// seed was erased: the release must not be made again with other noise.
  absl::StatusOr<Key> SeedOf(const ReleaseKey& key);

  /// Charges, unless this run has been charged for the key already, and draws. A second call with the same key
  /// between two snapshots returns the first draw.
  absl::StatusOr<Report> Once(const ReleaseKey& key, const Cost& cost, const UnitRanges& units,
                              absl::FunctionRef<absl::StatusOr<Report>()> draw) override;

  /// Does nothing: the engine commits, and lets nothing leave before.
  absl::Status Commit() override { return absl::OkStatus(); }

  const Accounts& accounts() const override { return accounts_; }
  const LedgerHead& head() const override { return head_; }

  /// Returns whether there are charges that the next transaction must hold.
  bool has_changes() const { return !pending_.empty(); }

  /// Moves the lines and seeds since the last call to the end of a transaction. Seeds are sealed.
  void MoveChangesTo(Transaction& transaction, Sealer& sealer);

  /// Forgets seeds and draws, because a snapshot has erased them.
  void EraseDraws();

 private:
  LedgerHeader header_;
  std::string run_;
  Accounts accounts_;
  LedgerHead head_;
  absl::flat_hash_map<std::string, Key> seeds_;
  absl::flat_hash_map<std::string, Report> draws_;  // made since the last snapshot
  absl::flat_hash_set<std::string> released_;       // keys of this run that are charged
  Transaction pending_;
};

}  // namespace bandana::store
