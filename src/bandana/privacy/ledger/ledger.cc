#include "bandana/privacy/ledger/ledger.h"

#include <utility>

#include "absl/time/clock.h"
#include "bandana/core/status.h"
#include "bandana/privacy/ledger/file_error.h"
#include "bandana/privacy/ledger/reader.h"
#include "bandana/privacy/ledger/verifier.h"
#include "fmt/format.h"

namespace bandana {
namespace {

// Returns whether the file holds only a header that its writer could not finish. Such a ledger has charged
// nobody.
bool NeverBegun(const std::string& bytes) {
  return bytes.find('\n') == std::string::npos && (bytes.starts_with(kMagic) || kMagic.starts_with(bytes));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Ledger>> Ledger::Open(const std::string& path, const LedgerHeader& header,
                                                     Durability durability) {
  BANDANA_RETURN_IF_ERROR(CheckBudgets(header));
  BANDANA_ASSIGN_OR_RETURN(DurableFile file, DurableFile::Open(path));
  std::unique_ptr<Ledger> ledger(new Ledger(path, header, durability, std::move(file)));
  BANDANA_ASSIGN_OR_RETURN(const std::optional<LedgerHead> head, ReadHead(path));
  constexpr std::size_t kLongerThanAnyHeader = std::size_t{1} << 20;
  BANDANA_ASSIGN_OR_RETURN(const std::string beginning, ledger->file_.Begin(kLongerThanAnyHeader));
  const bool charged = head && head->seq > 0;
  const bool is_new = !charged && beginning.size() < kLongerThanAnyHeader && NeverBegun(beginning);
  BANDANA_RETURN_IF_ERROR(is_new ? ledger->Begin() : ledger->Resume());
  return ledger;
}

absl::Status Ledger::Begin() {
  torn_bytes_ = file_.size();
  if (torn_bytes_ > 0) BANDANA_RETURN_IF_ERROR(file_.Truncate(0));
  head_.hash = kNoHash;
  AddLine(FormatHeader(header_, absl::Now()), 0);
  // Here alone the head is written first: once a ledger has a first line, a missing head means that it was
  // lost.
  BANDANA_RETURN_IF_ERROR(ReplaceFile(HeadPath(path_), FormatHead(head_)));
  BANDANA_RETURN_IF_ERROR(SyncFolderOf(HeadPath(path_)));
  return Commit();
}

absl::Status Ledger::Resume() {
  absl::StatusOr<LedgerState> state =
      ReadLedger(path_, {}, [&](const Dated<LedgerEntry>& entry, std::string_view) {
        journal_.emplace(entry.record.key, entry.record.draw);
        return absl::OkStatus();
      });
  if (!state.ok()) return state.status();
  BANDANA_RETURN_IF_ERROR(CheckSameHeader(path_, state->header.record, header_));
  torn_bytes_ = state->torn_bytes;
  if (torn_bytes_ > 0) BANDANA_RETURN_IF_ERROR(file_.Truncate(state->bytes));
  accounts_ = std::move(state->accounts);
  head_ = std::move(state->head);
  if (state->written_head && state->written_head->seq == head_.seq) return absl::OkStatus();
  BANDANA_RETURN_IF_ERROR(ReplaceFile(HeadPath(path_), FormatHead(head_)));
  return SyncFolderOf(HeadPath(path_));
}

void Ledger::AddLine(const std::string& content, std::uint64_t seq) {
  head_ = {seq, ChainHash(head_.hash, content)};
  pending_ += Join(content, head_.hash);
}

absl::StatusOr<Report> Ledger::Once(const ReleaseKey& key, const Cost& cost, const UnitRanges& units,
                                    absl::FunctionRef<absl::StatusOr<Report>()> draw) {
  BANDANA_RETURN_IF_ERROR(failed_);
  if (const auto it = journal_.find(key); it != journal_.end()) return it->second;
  LedgerEntry entry{.key = key, .guarantee = cost.guarantee, .loss = cost.loss, .units = units};
  BANDANA_RETURN_IF_ERROR(CheckCharge(entry));
  BANDANA_RETURN_IF_ERROR(accounts_.Check(entry.loss, entry.units));
  BANDANA_ASSIGN_OR_RETURN(entry.draw, draw());
  BANDANA_RETURN_IF_ERROR(accounts_.Add(entry.loss, entry.units));
  const std::uint64_t seq = head_.seq + 1;
  AddLine(FormatEntry(entry, header_.limits.measure, seq, absl::Now()), seq);
  Report report = journal_.emplace(key, std::move(entry.draw)).first->second;
  if (durability_ == Durability::kEach) BANDANA_RETURN_IF_ERROR(Commit());
  return report;
}

absl::Status Ledger::Commit() {
  BANDANA_RETURN_IF_ERROR(failed_);
  if (pending_.empty()) return absl::OkStatus();
  // The file is written before its head. So a head that is behind means a crash, and a head that is ahead
  // means that a line was removed. If the head's new name is not durable yet, the head is at worst older.
  failed_ = file_.Append(pending_);
  if (failed_.ok()) failed_ = ReplaceFile(HeadPath(path_), FormatHead(head_));
  pending_.clear();
  return failed_;
}

}  // namespace bandana
