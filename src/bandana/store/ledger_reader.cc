#include "bandana/store/ledger_reader.h"

#include <string>
#include <string_view>

#include "bandana/core/status.h"
#include "bandana/privacy/ledger/file_error.h"
#include "fmt/format.h"

namespace bandana::store {

absl::StatusOr<LedgerState> ReadStoreLedger(Store& store, const ReadOptions& options,
                                            LedgerVerifier::Visit visit) {
  BANDANA_ASSIGN_OR_RETURN(const std::optional<SignedHead> stored, StoredHead(store));
  LedgerVerifier verifier(store.name());
  std::optional<std::uint64_t> noted_seq;
  const absl::Status visited = store.ForEachLine(0, [&](const AddLine& line) -> absl::Status {
    BANDANA_RETURN_IF_ERROR(verifier.Take(line.line, visit));
    const LedgerHead head = verifier.head();
    if (options.noted_head == head.hash) noted_seq = head.seq;
    if (stored && stored->head.seq == head.seq && stored->head.hash != head.hash) {
      return verifier.Fault(
          "this is not the line that the store's signed head names: the ledger was altered");
    }
    return absl::OkStatus();
  });
  BANDANA_RETURN_IF_ERROR(visited);
  const auto altered = [&](std::string message) {
    return FileError(absl::StatusCode::kDataLoss, store.name(), std::move(message));
  };
  if (stored && stored->head.seq >= verifier.lines()) {
    return altered(
        fmt::format("the ledger has {} lines, but the store's signed head names line {}; the last "
                    "lines were removed",
                    verifier.lines(), stored->head.seq + 1));
  }
  if (verifier.lines() == 0) {
    return FileError(absl::StatusCode::kNotFound, store.name(), "the ledger of this store has no line yet");
  }
  if (options.noted_head && !noted_seq) {
    return altered(
        fmt::format("no line has the noted hash {}: lines were altered or removed", *options.noted_head));
  }
  return LedgerState{.header = verifier.header(),
                     .accounts = verifier.TakeAccounts(),
                     .head = verifier.head(),
                     .last_time = verifier.last_time(),
                     .bytes = 0,
                     .torn_bytes = 0,
                     .written_head = verifier.head(),
                     .noted_seq = noted_seq};
}

absl::StatusOr<std::optional<SignedHead>> StoredHead(Store& store) {
  BANDANA_ASSIGN_OR_RETURN(const std::optional<std::string> text, store.Meta(kHeadMeta));
  if (!text) return std::nullopt;
  std::optional<SignedHead> head = ParseSignedHead(*text);
  if (head) return head;
  return FileError(absl::StatusCode::kDataLoss, store.name(), "its signed head was altered");
}

}  // namespace bandana::store
