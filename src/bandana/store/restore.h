#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bandana/privacy/ledger/record.h"
#include "bandana/store/identity.h"

namespace bandana::store {

struct RestoreParams {
  std::string copy;             ///< the back-up, or a plain copy of a store that no process used meanwhile
  std::string store;            ///< the file that is made
  std::string mirror;           ///< a copy of the ledger (store/ledger_mirror.h); empty: none
  std::string anchor;           ///< a file with the newest head that is known (store/anchor.h); empty: none
  bool anchor_is_lost = false;  ///< nobody has the anchor any more
  const PublicKey* key = nullptr;  ///< the key that must have signed the anchor; null: no key
};

struct Restored {
  std::string made;                  ///< the time of the back-up; empty if the copy is a plain one
  std::uint64_t copied_lines = 0;    ///< lines of the ledger that the copy has
  std::uint64_t added_lines = 0;     ///< lines that came from the mirror
  std::string ended_run;             ///< the run that was open in the copy, as RunName; empty if none was
  std::vector<std::string> learned;  ///< runs that only the mirror knows
  std::string all_spent;             ///< why every budget counts as spent; empty if the accounts are complete
  std::optional<LedgerHead> head;    ///< of the restored ledger
};

/// Makes a store of an old copy. Whoever simply went on from the copy would release the same values again
/// with other noise, and would forget what was paid since. So:
/// 1. Lines of the ledger that the copy lacks are added from the mirror.
/// 2. The run that was open ends. The next run draws new noise and pays anew.
/// 3. The ledger is compared with the anchor. If it has the anchor's line, the accounts are complete.
///    Otherwise, and without an anchor, nobody knows what was paid: a line is added from which on every
///    budget counts as spent.
///
/// The mirror and the anchor are only read. There is no file at `store` unless this returns OK.
/// - kNotFound: copy, mirror or anchor is missing.
/// - kAlreadyExists: there is a file at `store`, or one that SQLite would take for a part of it.
/// - kFailedPrecondition: mirror or anchor is not that of this store, or does not fit its lines; the store
/// had
///   an anchor, but none is given; or every budget must count as spent, but neither copy nor mirror has the
///   first line of the ledger, which states the budgets.
/// - kDataLoss: copy, mirror or anchor is damaged, or the anchor was not signed by the key.
/// - kUnavailable: a disk fails or is full.
absl::StatusOr<Restored> Restore(const RestoreParams& params, absl::Time now);

}  // namespace bandana::store
