#include "bandana/store/ledger_mirror.h"

#include <optional>

#include "bandana/core/status.h"
#include "bandana/privacy/ledger/file_error.h"
#include "bandana/privacy/ledger/reader.h"
#include "bandana/store/signed_head.h"
#include "fmt/format.h"

namespace bandana::store {
namespace {

absl::Status Unfit(const std::string& path, std::string message) {
  return FileError(absl::StatusCode::kFailedPrecondition, path, std::move(message));
}

}  // namespace

absl::StatusOr<LedgerMirror> LedgerMirror::Open(const std::string& path, Store& store) {
  BANDANA_ASSIGN_OR_RETURN(DurableFile file, DurableFile::Open(path));
  LedgerMirror mirror(path, std::move(file));
  BANDANA_ASSIGN_OR_RETURN(const std::optional<LedgerHead> written, ReadHead(path));
  if (!written) {
    // The head is written before the first line, so without a head this is no ledger.
    if (mirror.file_.size() > 0) {
      return Unfit(path,
                   fmt::format("there is a file, but no file {} beside it: it is no copy of a ledger. Name "
                               "another file, or move this one away",
                               HeadPath(path)));
    }
  } else {
    constexpr std::size_t kLongerThanAnyHeader = std::size_t{1} << 20;
    BANDANA_ASSIGN_OR_RETURN(const std::string beginning, mirror.file_.Begin(kLongerThanAnyHeader));
    const bool never_begun = written->seq == 0 && beginning.find('\n') == std::string::npos;
    if (never_begun) {
      BANDANA_RETURN_IF_ERROR(mirror.file_.Truncate(0));
    } else {
      BANDANA_ASSIGN_OR_RETURN(
          const LedgerState state,
          ReadLedger(path, {}, [](const Dated<LedgerEntry>&, std::string_view) { return absl::OkStatus(); }));
      BANDANA_ASSIGN_OR_RETURN(const std::uint64_t lines, store.Lines());
      BANDANA_ASSIGN_OR_RETURN(const std::optional<std::string> hash, HashOfLine(store, state.head.seq));
      if (state.head.seq >= lines && lines > 0) {
        return Unfit(
            path, fmt::format("this copy of the ledger has {} lines, but the store {} has {}: the store is "
                              "an old copy. Put the newest store back, or restore it (bandana store "
                              "restore)",
                              state.head.seq + 1, store.name(), lines));
      }
      if (hash != state.head.hash) {
        return Unfit(path,
                     fmt::format("this is the copy of another ledger than that of the store {}, or the store "
                                 "was restored without it. Name another file, or move this one away",
                                 store.name()));
      }
      if (state.torn_bytes > 0) BANDANA_RETURN_IF_ERROR(mirror.file_.Truncate(state.bytes));
      mirror.lines_ = state.head.seq + 1;
    }
  }
  BANDANA_RETURN_IF_ERROR(mirror.Extend(store));
  return mirror;
}

absl::Status LedgerMirror::Extend(Store& store) {
  // Lines are written in groups, so that a long ledger needs little memory.
  constexpr std::size_t kGroup = std::size_t{4} << 20;
  std::string text;
  LedgerHead head;
  const auto write = [&]() -> absl::Status {
    if (text.empty()) return absl::OkStatus();
    if (lines_ == 0) {
      const std::size_t end = text.find('\n');
      const std::optional<SplitLine> header = Split(std::string_view(text).substr(0, end));
      BANDANA_RETURN_IF_ERROR(ReplaceFile(HeadPath(path_), FormatHead({0, std::string(header->hash)})));
      BANDANA_RETURN_IF_ERROR(SyncFolderOf(HeadPath(path_)));
    }
    BANDANA_RETURN_IF_ERROR(file_.Append(text));
    BANDANA_RETURN_IF_ERROR(ReplaceFile(HeadPath(path_), FormatHead(head)));
    lines_ = head.seq + 1;
    text.clear();
    return absl::OkStatus();
  };
  BANDANA_RETURN_IF_ERROR(store.ForEachLine(lines_, [&](const AddLine& line) -> absl::Status {
    const std::optional<SplitLine> parts = Split(line.line);
    if (!parts) return FileError(absl::StatusCode::kDataLoss, store.name(), "its ledger was altered");
    head = {line.seq, std::string(parts->hash)};
    text += line.line;
    text += '\n';
    return text.size() < kGroup ? absl::OkStatus() : write();
  }));
  return write();
}

}  // namespace bandana::store
