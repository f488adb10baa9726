#include "bandana/store/restore.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/escaping.h"
#include "bandana/core/status.h"
#include "bandana/privacy/ledger/file_error.h"
#include "bandana/privacy/ledger/reader.h"
#include "bandana/privacy/ledger/verifier.h"
#include "bandana/store/anchor.h"
#include "bandana/store/database.h"
#include "bandana/store/new_file.h"
#include "bandana/store/schema.h"
#include "bandana/store/signed_head.h"
#include "bandana/store/sqlite_store.h"
#include "fmt/format.h"

namespace bandana::store {
namespace {

constexpr const char* kEndedByRestore = "it was open in a back-up that was restored";
constexpr const char* kKnownFromMirror = "it is known only from the mirror of the ledger";

absl::Status DoesNotFit(const std::string& file, std::string message) {
  return FileError(absl::StatusCode::kFailedPrecondition, file, std::move(message));
}

absl::Status IgnoreLine(const Dated<LedgerEntry>&, std::string_view) { return absl::OkStatus(); }

absl::StatusOr<std::optional<SignedHead>> ReadAnchor(const RestoreParams& params) {
  if (params.anchor.empty()) return std::nullopt;
  BANDANA_ASSIGN_OR_RETURN(SignedHead anchor, ReadSignedHead(params.anchor));
  if (params.key != nullptr) BANDANA_RETURN_IF_ERROR(CheckSignature(anchor, *params.key, params.anchor));
  return anchor;
}

// Returns the head of the mirror, which verifies.
absl::StatusOr<std::optional<LedgerHead>> ReadMirror(const RestoreParams& params) {
  if (params.mirror.empty()) return std::nullopt;
  BANDANA_ASSIGN_OR_RETURN(const LedgerState mirror, ReadLedger(params.mirror, {}, IgnoreLine));
  if (mirror.header.record.of_store) return mirror.head;
  return DoesNotFit(params.mirror, "this is the ledger of one run without a store, and not a store's mirror");
}

// Writes the content of the copy into the file `part` in this program's schema. Returns when it was made.
absl::StatusOr<std::string> CopyAsStore(Database& copy, const std::string& part) {
  BANDANA_RETURN_IF_ERROR(copy.CopyInto(part));
  BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<Database> made,
                           Database::Open(part, Database::Access::kWrite));
  BANDANA_ASSIGN_OR_RETURN(Statement mark, made->Prepare("SELECT value FROM meta WHERE name = ?"));
  BANDANA_ASSIGN_OR_RETURN(const bool marked, mark.BindText(1, kCopyMeta).Step());
  std::string time = marked ? std::string(mark.Bytes(0)) : std::string();
  mark.Reset();
  BANDANA_ASSIGN_OR_RETURN(Statement unmark, made->Prepare("DELETE FROM meta WHERE name = ?"));
  BANDANA_RETURN_IF_ERROR(unmark.BindText(1, kCopyMeta).Run());
  BANDANA_RETURN_IF_ERROR(Migrate(*made));
  return time;
}

// Adds lines of a mirror to a store. Each line charges for a run, so runs that the store does not know are
// begun and ended.
class Replay {
 public:
  Replay(Store& store, std::string open_run, Measure measure, absl::Time now)
      : store_(store), open_run_(std::move(open_run)), measure_(measure), now_(now) {}

  absl::Status Take(std::uint64_t seq, const std::string& line) {
    const std::optional<SplitLine> parts = Split(line);
    if (!parts) return absl::DataLossError("this is not a line of a ledger");
    if (seq == 0) {
      BANDANA_ASSIGN_OR_RETURN(const Dated<LedgerHeader> header, ParseHeader(parts->content));
      measure_ = header.record.limits.measure;
    } else {
      BANDANA_ASSIGN_OR_RETURN(const Dated<LedgerEntry> entry, ParseEntry(parts->content, measure_));
      const std::string& run = entry.record.run;
      if (!run.empty() && run != open_run_) Begin(run, entry.time);
    }
    changes_.push_back(AddLine{seq, line});
    bytes_ += line.size();
    constexpr std::size_t kGroup = std::size_t{4} << 20;
    return bytes_ < kGroup ? absl::OkStatus() : Commit();
  }

  absl::Status Commit() {
    bytes_ = 0;
    return store_.Commit(std::exchange(changes_, {}));
  }

  std::vector<std::string> TakeLearned() { return std::move(learned_); }

 private:
  void Begin(const std::string& run, const std::string& time) {
    EndOpenRun();
    absl::Time began = now_;
    absl::ParseTime(absl::RFC3339_full, time, &began, nullptr);
    changes_.push_back(BeginRun{.run = absl::HexStringToBytes(run), .spec = "", .time = began});
    learned_.push_back(run);
    open_run_ = run;
  }
  void EndOpenRun() {
    if (open_run_.empty()) return;
    changes_.push_back(EndRun{.state = RunState::kEnded,
                              .why = learned_.empty() ? kEndedByRestore : kKnownFromMirror,
                              .time = now_});
  }

  Store& store_;
  std::string open_run_;  // as RunName
  Measure measure_;
  absl::Time now_;
  Transaction changes_;
  std::size_t bytes_ = 0;
  std::vector<std::string> learned_;
};

class Restoring {
 public:
  Restoring(const RestoreParams& params, Store& store, absl::Time now)
      : params_(params), store_(store), now_(now) {}

  absl::Status Run(const std::optional<LedgerHead>& mirror, const std::optional<SignedHead>& anchor,
                   Restored& restored) {
    BANDANA_RETURN_IF_ERROR(CheckAnchorOwner(anchor));
    BANDANA_RETURN_IF_ERROR(VerifyCopy(restored));
    if (mirror) BANDANA_RETURN_IF_ERROR(AddFromMirror(*mirror, restored));
    BANDANA_ASSIGN_OR_RETURN(restored.all_spent, WhyNotComplete(anchor));
    return Close(anchor, restored);
  }

 private:
  absl::Status CheckAnchorOwner(const std::optional<SignedHead>& anchor) {
    BANDANA_ASSIGN_OR_RETURN(const std::optional<std::string> identity, store_.Meta("store"));
    if (anchor && anchor->store != identity) {
      return DoesNotFit(params_.anchor,
                        fmt::format("this is the anchor of the store {}, but {} is a copy of the store {}",
                                    anchor->store, params_.copy, identity.value_or("?")));
    }
    BANDANA_ASSIGN_OR_RETURN(const std::optional<std::string> had, store_.Meta(kAnchorMeta));
    if (anchor || !had || had->empty() || params_.anchor_is_lost) return absl::OkStatus();
    return DoesNotFit(
        params_.copy,
        fmt::format("the store had an anchor at {}: name it with --anchor. If nobody has it any "
                    "more, say --anchor-is-lost; every budget then counts as spent",
                    *had));
  }

  absl::Status VerifyCopy(Restored& restored) {
    LedgerVerifier verifier(params_.copy);
    BANDANA_RETURN_IF_ERROR(
        store_.ForEachLine(0, [&](const AddLine& line) { return verifier.Take(line.line, IgnoreLine); }));
    restored.copied_lines = verifier.lines();
    if (verifier.lines() > 0) measure_ = verifier.header().record.limits.measure;
    BANDANA_ASSIGN_OR_RETURN(const std::vector<store::Run> runs, store_.Runs());
    if (!runs.empty() && runs.back().state == RunState::kOpen) restored.ended_run = RunName(runs.back().run);
    return absl::OkStatus();
  }

  absl::Status AddFromMirror(const LedgerHead& mirror, Restored& restored) {
    const std::uint64_t copied = restored.copied_lines;
    // The last line that both have: the chain of hashes says that all lines before it are the same, too.
    const std::uint64_t common = std::min(copied, mirror.seq + 1);
    BANDANA_ASSIGN_OR_RETURN(const std::optional<std::string> hash,
                             HashOfLine(store_, common == 0 ? 0 : common - 1));
    std::ifstream file(params_.mirror, std::ios::binary);
    Replay replay(store_, restored.ended_run, measure_, now_);
    std::string line;
    for (std::uint64_t seq = 0; seq <= mirror.seq && std::getline(file, line); ++seq) {
      if (seq + 1 == common) {
        const std::optional<SplitLine> parts = Split(line);
        if (!parts || parts->hash != hash) return OtherLedger(seq);
      }
      if (seq < copied) continue;
      const absl::Status taken = replay.Take(seq, line);
      if (!taken.ok()) return Refused(seq, taken);
      ++restored.added_lines;
    }
    if (const absl::Status committed = replay.Commit(); !committed.ok())
      return Refused(mirror.seq, committed);
    restored.learned = replay.TakeLearned();
    return absl::OkStatus();
  }

  absl::Status OtherLedger(std::uint64_t seq) const {
    return DoesNotFit(
        params_.mirror,
        fmt::format("line {} of this mirror is not line {} of the ledger in {}: it is the mirror of "
                    "another ledger, or a store went on from an old copy. Name the mirror of "
                    "this store",
                    seq, seq, params_.copy));
  }

  absl::Status Refused(std::uint64_t seq, const absl::Status& status) const {
    if (absl::IsUnavailable(status)) return status;
    return FileError(absl::StatusCode::kDataLoss, params_.mirror,
                     "this line cannot be added to the store: " + std::string(status.message()),
                     static_cast<int>(seq + 1));
  }

  // Returns nothing if the ledger has the anchor's line.
  absl::StatusOr<std::string> WhyNotComplete(const std::optional<SignedHead>& anchor) {
    BANDANA_ASSIGN_OR_RETURN(const std::uint64_t lines, store_.Lines());
    if (!anchor) {
      return fmt::format(
          "{}, so nobody knows which lines were written after the {} that the restored ledger has",
          params_.anchor_is_lost ? "the anchor is lost" : "there is no anchor", lines);
    }
    if (anchor->head.seq >= lines) {
      return fmt::format(
          "the anchor knows line {} of the ledger, counted from 0, but the back-up{} only {} lines",
          anchor->head.seq, params_.mirror.empty() ? " has" : " and the mirror together have", lines);
    }
    BANDANA_ASSIGN_OR_RETURN(const std::optional<std::string> hash, HashOfLine(store_, anchor->head.seq));
    if (hash == anchor->head.hash) return std::string();
    return DoesNotFit(
        params_.anchor,
        fmt::format("line {} of the ledger in {} is not the line that the anchor knows: a store "
                    "went on from an old copy. Name a copy of the store that the anchor belongs to",
                    anchor->head.seq, params_.copy));
  }

  absl::Status Close(const std::optional<SignedHead>& anchor, Restored& restored) {
    Transaction changes;
    BANDANA_ASSIGN_OR_RETURN(const std::vector<store::Run> runs, store_.Runs());
    if (!runs.empty() && runs.back().state == RunState::kOpen) {
      changes.push_back(EndRun{.state = RunState::kEnded,
                               .why = restored.learned.empty() ? kEndedByRestore : kKnownFromMirror,
                               .time = now_});
    }
    if (!restored.all_spent.empty()) BANDANA_RETURN_IF_ERROR(SpendAll(restored.all_spent, changes));
    if (anchor && !restored.all_spent.empty()) {
      changes.push_back(PutMeta{kRestoredMeta, FormatSignedHead(*anchor)});
    }
    if (!anchor) changes.push_back(PutMeta{kAnchorMeta, ""});
    BANDANA_RETURN_IF_ERROR(store_.Commit(changes));
    BANDANA_ASSIGN_OR_RETURN(restored.head, HeadOf(store_));
    return absl::OkStatus();
  }

  absl::Status SpendAll(const std::string& why, Transaction& changes) {
    BANDANA_ASSIGN_OR_RETURN(const std::optional<LedgerHead> head, HeadOf(store_));
    if (!head) {
      return DoesNotFit(params_.copy,
                        fmt::format("{}. Every budget would have to count as spent, but nobody knows the "
                                    "budgets: the first line of the ledger states them, and it is missing. "
                                    "Name a mirror of the ledger (--mirror) or a newer back-up",
                                    why));
    }
    LedgerEntry entry;
    entry.all_spent = "a back-up was restored, and " + why;
    const std::uint64_t seq = head->seq + 1;
    const std::string content = FormatEntry(entry, measure_, seq, now_);
    std::string line = Join(content, ChainHash(head->hash, content));
    line.pop_back();  // the line end
    changes.push_back(AddLine{seq, std::move(line)});
    return absl::OkStatus();
  }

  const RestoreParams& params_;
  Store& store_;
  absl::Time now_;
  Measure measure_ = Measure::kApproximateDp;
};

}  // namespace

absl::StatusOr<Restored> Restore(const RestoreParams& params, absl::Time now) {
  BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<Database> copy, OpenAnySchema(params.copy));
  BANDANA_ASSIGN_OR_RETURN(const std::optional<SignedHead> anchor, ReadAnchor(params));
  BANDANA_ASSIGN_OR_RETURN(const std::optional<LedgerHead> mirror, ReadMirror(params));
  BANDANA_ASSIGN_OR_RETURN(NewFile file, NewFile::Begin(params.store));
  Restored restored;
  BANDANA_ASSIGN_OR_RETURN(restored.made, CopyAsStore(*copy, file.part()));
  file.Unlock();
  {
    BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<SqliteStore> store,
                             SqliteStore::Open(file.part(), SqliteStore::Missing::kRefuse));
    BANDANA_RETURN_IF_ERROR(Restoring(params, *store, now).Run(mirror, anchor, restored));
  }
  BANDANA_RETURN_IF_ERROR(file.Finish());
  return restored;
}

}  // namespace bandana::store
