#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/store/signed_head.h"
#include "bandana/store/store.h"

namespace bandana::store {

/// A file outside of the store, on another disk, with the newest head of the store's ledger. A store that is
/// put back from an old copy would release the same values with other noise; the anchor shows that it lacks
/// lines, and then it does not go on.
class Anchor {
 public:
  /// Opens the anchor of a store. If the store never had one, MoveTo creates the file; then the store must
  /// remember it (kAnchorMeta). `key` is the public half of
  /// the key that signs the store's heads, null if there is none. Fails with kFailedPrecondition if the store
  /// is behind the anchor, has another line where the anchor has one, or is not the anchor's; or if it had an
  /// anchor and the file is missing. Fails with kDataLoss if the anchor was altered or is not signed by
  /// `key`.
  static absl::StatusOr<Anchor> Open(const std::string& path, Store& store, const PublicKey* key);

  /// Moves the anchor to a newer head, durably.
  absl::Status MoveTo(const SignedHead& head);

 private:
  explicit Anchor(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

/// Fails with kFailedPrecondition, and says what does not fit, unless `anchor` is a head of this store and
/// the store has its line. A store that was restored with all budgets spent (store/restore.h) also fits the
/// anchor that it lacked lines of. `path` is the anchor's file, which errors name.
absl::Status CheckAnchor(const std::string& path, const SignedHead& anchor, Store& store);

/// The name under which a store keeps the path of its anchor (PutMeta). An empty path means that the anchor
/// was lost, and the store restored without it.
inline constexpr char kAnchorMeta[] = "anchor";

/// The name under which a store that was restored with all budgets spent keeps the anchor of which it lacked
/// lines.
inline constexpr char kRestoredMeta[] = "restored";

}  // namespace bandana::store
