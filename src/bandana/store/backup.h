#pragma once

#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "bandana/store/schema.h"

namespace bandana::store {

/// Makes a back-up of a store in a new file, also while a process uses the store. The back-up has the store
/// as it was at one moment: its identity, its runs and its whole ledger. It has no message, no snapshot and
/// no seed of noise, and it never has the ratchet: a run cannot go on from an old copy, so that nobody needs
/// them there. The file says that it is a back-up (kCopyMeta), and no process uses it as a store: only
/// Restore makes a store of it.
///
/// The back-up is verified and durable when this returns OK. Before that there is no file at `copy`. The
/// store may have an older schema.
/// - kNotFound: there is no such store.
/// - kAlreadyExists: there is a file at `copy`.
/// - kFailedPrecondition: the store's schema is newer than this program's.
/// - kDataLoss: the store is damaged, or its ledger does not verify.
/// - kUnavailable: a disk fails or is full.
absl::Status BackUp(const std::string& store, const std::string& copy, absl::Time now,
                    std::span<const std::string_view> migrations = Migrations());

}  // namespace bandana::store
