#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "bandana/privacy/ledger/reader.h"
#include "bandana/privacy/ledger/verifier.h"
#include "bandana/store/signed_head.h"
#include "bandana/store/store.h"

namespace bandana::store {

/// Reads and verifies the ledger of a store, and calls `visit` for every line but the header, in order. The
/// state's `written_head` is the last line: a store has no file HeadPath, and the head that it keeps signed
/// (kHeadMeta) is compared instead.
///
/// - kNotFound: the ledger has no line yet.
/// - kDataLoss: something does not verify, as in ReadLedger of a file; or the signed head is that of a line
///   which the ledger does not have.
/// - Any other error comes from `visit` or from the store.
absl::StatusOr<LedgerState> ReadStoreLedger(Store& store, const ReadOptions& options,
                                            LedgerVerifier::Visit visit);

/// Returns the signed head that the store keeps, nothing if it has none. Fails with kDataLoss if it was
/// altered.
absl::StatusOr<std::optional<SignedHead>> StoredHead(Store& store);

}  // namespace bandana::store
