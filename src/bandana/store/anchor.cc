#include "bandana/store/anchor.h"

#include <optional>

#include "bandana/core/status.h"
#include "bandana/privacy/ledger/durable_file.h"
#include "bandana/privacy/ledger/file_error.h"
#include "fmt/format.h"

namespace bandana::store {
namespace {

absl::Status DoesNotGoOn(const std::string& path, std::string message) {
  return FileError(absl::StatusCode::kFailedPrecondition, path, std::move(message));
}

}  // namespace

absl::Status CheckAnchor(const std::string& path, const SignedHead& anchor, Store& store) {
  BANDANA_ASSIGN_OR_RETURN(const std::optional<std::string> identity, store.Meta("store"));
  if (anchor.store != identity) {
    return DoesNotGoOn(
        path, fmt::format("this is the anchor of the store {}, but {} is the store {}. Each store needs "
                          "an anchor of its own",
                          anchor.store, store.name(), identity.value_or("?")));
  }
  BANDANA_ASSIGN_OR_RETURN(const std::optional<std::string> restored, store.Meta(kRestoredMeta));
  if (restored == FormatSignedHead(anchor)) return absl::OkStatus();
  BANDANA_ASSIGN_OR_RETURN(const std::optional<std::string> hash, HashOfLine(store, anchor.head.seq));
  if (!hash) {
    BANDANA_ASSIGN_OR_RETURN(const std::uint64_t lines, store.Lines());
    return DoesNotGoOn(
        path, fmt::format("the anchor knows line {} of the ledger, but the store {} has only {} lines: the "
                          "store is an old copy and would release the same values again with other noise. "
                          "Put the newest store back, or restore it (bandana store restore)",
                          anchor.head.seq, store.name(), lines));
  }
  if (*hash != anchor.head.hash) {
    return DoesNotGoOn(
        path, fmt::format("line {} of the ledger of the store {} is not the line that the anchor knows: "
                          "an old copy of the store went on. Put the newest store back, or restore it "
                          "(bandana store restore)",
                          anchor.head.seq, store.name()));
  }
  return absl::OkStatus();
}

absl::StatusOr<Anchor> Anchor::Open(const std::string& path, Store& store, const PublicKey* key) {
  const absl::StatusOr<SignedHead> anchor = ReadSignedHead(path);
  if (absl::IsNotFound(anchor.status())) {
    BANDANA_ASSIGN_OR_RETURN(const std::optional<std::string> before, store.Meta(kAnchorMeta));
    if (!before || before->empty()) return Anchor(path);
    return DoesNotGoOn(
        path, fmt::format(
                  "the anchor is missing, but the store {} had one at {}: without it nobody can tell whether "
                  "the store is an old copy. Put the anchor back, or restore the store (bandana store "
                  "restore)",
                  store.name(), *before));
  }
  if (!anchor.ok()) return anchor.status();
  if (key != nullptr) BANDANA_RETURN_IF_ERROR(CheckSignature(*anchor, *key, path));
  BANDANA_RETURN_IF_ERROR(CheckAnchor(path, *anchor, store));
  return Anchor(path);
}

absl::Status Anchor::MoveTo(const SignedHead& head) {
  BANDANA_RETURN_IF_ERROR(ReplaceFile(path_, FormatSignedHead(head)));
  return SyncFolderOf(path_);
}

}  // namespace bandana::store
