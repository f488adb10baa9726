#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/privacy/ledger/release_book.h"
#include "bandana/privacy/ledger/verifier.h"
#include "bandana/store/change.h"
#include "bandana/store/seal.h"
#include "bandana/store/store.h"

namespace bandana::store {

/// The ledger of a store. A charge becomes a line, and its noise is drawn from a seed of its own. Both go
/// into the transaction of the step that asked for them: they are durable together with everything that
/// follows from them, or not at all. A line names its run, so that a rerun draws anew and pays anew.
///
/// After a crash, a role takes its messages again and asks for the same releases. Such a release costs
/// nothing and is drawn again from the same seed. So the role makes the same noise, also the noise that it
/// keeps for later releases.
class StoreLedger final : public ReleaseBook {
 public:
  /// Reads and verifies the lines of the store. A new store gets its first line with the first transaction.
  /// Fails with kFailedPrecondition if the store is that of another deployment or configuration. The store
  /// refuses messages while this ledger has charges that no transaction holds. `entropy` makes the seeds.
  static absl::StatusOr<std::unique_ptr<StoreLedger>> Open(Store& store, const LedgerHeader& header,
                                                           Entropy entropy = RandomKey);
  ~StoreLedger() override;
  StoreLedger(const StoreLedger&) = delete;
  StoreLedger& operator=(const StoreLedger&) = delete;

  /// Begins to charge for a run (16 bytes), or goes on. AddJournal then reads the seeds that are journaled.
  void EnterRun(const std::string& run);
  /// Fails with kDataLoss if a seed does not open.
  absl::Status AddJournal(Store& store, const Sealer& sealer);
  /// Adds one seed that is journaled; `key` is a DrawKey.
  void AddSeed(const std::string& key, const Key& seed);

  /// Returns the seed of a release: the journaled one, or a new one from the ledger's entropy. Call it before
  /// Once, and draw with it. Fails with kFailedPrecondition if this run has made the release and
  /// its seed was erased: the release must not be made again with other noise.
  absl::StatusOr<Key> SeedOf(const ReleaseKey& key);

  /// Charges, unless this run has been charged for the key already, and draws. A second call with the same
  /// key between two snapshots returns the first draw. Fails with kFailedPrecondition if the release has no
  /// seed; only a ledger whose claims are void accepts draws without one.
  absl::StatusOr<Report> Once(const ReleaseKey& key, const Cost& cost, const UnitRanges& units,
                              absl::FunctionRef<absl::StatusOr<Report>()> draw) override;

  /// Does nothing: the engine commits, and lets nothing leave before.
  absl::Status Commit() override { return absl::OkStatus(); }

  const LedgerHeader& header() const { return header_; }
  const Accounts& accounts() const override { return accounts_; }
  const LedgerHead& head() const override { return head_; }

  /// Returns whether there are charges that the next transaction must hold.
  bool has_changes() const { return *charges_wait_; }

  /// Moves the lines and seeds since the last call to the end of a transaction. Seeds are sealed. If the
  /// transaction gets a snapshot, call this before.
  void MoveChangesTo(Transaction& transaction, Sealer& sealer);

  /// Forgets seeds and draws, because a snapshot has erased them.
  void EraseDraws();

 private:
  StoreLedger(LedgerHeader header, Accounts accounts, Entropy entropy)
      : header_(std::move(header)), entropy_(std::move(entropy)), accounts_(std::move(accounts)) {}
  void Append(const std::string& content, std::uint64_t seq);

  LedgerHeader header_;
  Entropy entropy_;
  std::string run_;  // as RunName
  Accounts accounts_;
  LedgerHead head_;
  absl::flat_hash_map<std::string, Key> seeds_;
  absl::flat_hash_map<std::string, Report> draws_;  // made since the last snapshot
  ReleaseSet released_;                             // of this run, or of the last one in the ledger
  Transaction pending_;                             // seeds are not sealed yet
  std::shared_ptr<bool> charges_wait_ = std::make_shared<bool>(false);
};

/// Returns the place to which the seed of a draw is sealed.
inline std::string DrawPlace(const std::string& key) { return "draw " + key; }

}  // namespace bandana::store
