#include "bandana/store/guarded_store.h"

#include <variant>

#include "absl/time/clock.h"
#include "bandana/core/status.h"
#include "bandana/privacy/ledger/file_error.h"

namespace bandana::store {

absl::StatusOr<std::unique_ptr<GuardedStore>> GuardedStore::Open(std::unique_ptr<Store> store,
                                                                 Params params) {
  std::unique_ptr<GuardedStore> guarded(new GuardedStore(std::move(store), std::move(params)));
  BANDANA_RETURN_IF_ERROR(guarded->Begin());
  return guarded;
}

absl::Status GuardedStore::Begin() {
  BANDANA_ASSIGN_OR_RETURN(const std::optional<std::string> identity, store_->Meta("store"));
  identity_ = identity.value_or("");
  std::optional<AddLine> last;
  BANDANA_ASSIGN_OR_RETURN(const std::uint64_t lines, store_->Lines());
  if (lines > 0) {
    const absl::Status enough = absl::CancelledError();
    absl::Status visited = store_->ForEachLine(0, [&](const AddLine& line) {
      const absl::Status taken = TakeHeader(line);
      return taken.ok() ? enough : taken;
    });
    if (!visited.ok() && visited != enough) return visited;
    BANDANA_RETURN_IF_ERROR(store_->ForEachLine(lines - 1, [&](const AddLine& line) {
      last = line;
      return absl::OkStatus();
    }));
  }
  // The anchor comes first: an old copy of the store must change nothing.
  if (!params_.anchor.empty()) {
    std::optional<PublicKey> key;
    if (params_.identity) key = params_.identity->public_key();
    BANDANA_ASSIGN_OR_RETURN(Anchor anchor, Anchor::Open(params_.anchor, *store_, key ? &*key : nullptr));
    anchor_.emplace(std::move(anchor));
  }
  if (!params_.mirror.empty()) {
    BANDANA_ASSIGN_OR_RETURN(LedgerMirror mirror, LedgerMirror::Open(params_.mirror, *store_));
    mirror_.emplace(std::move(mirror));
  }
  BANDANA_ASSIGN_OR_RETURN(const std::optional<std::string> anchor, store_->Meta(kAnchorMeta));
  knows_anchor_ = anchor == params_.anchor;
  if (!last) return absl::OkStatus();
  const SignedHead head = HeadAfter(*last);
  const Change changes[] = {PutMeta{kHeadMeta, FormatSignedHead(head)}};
  BANDANA_RETURN_IF_ERROR(store_->Commit(changes));
  return Publish(head);
}

absl::Status GuardedStore::TakeHeader(const AddLine& line) {
  const std::optional<SplitLine> parts = Split(line.line);
  if (parts) {
    const absl::StatusOr<Dated<LedgerHeader>> header = ParseHeader(parts->content);
    if (header.ok()) {
      configuration_ = header->record.configuration;
      return absl::OkStatus();
    }
  }
  return FileError(absl::StatusCode::kDataLoss, store_->name(), "the first line of its ledger was altered");
}

SignedHead GuardedStore::HeadAfter(const AddLine& line) const {
  const std::optional<SplitLine> parts = Split(line.line);
  return SignHead(configuration_, identity_, {line.seq, parts ? std::string(parts->hash) : std::string()},
                  absl::Now(), params_.identity ? &*params_.identity : nullptr);
}

absl::Status GuardedStore::Commit(std::span<const Change> changes) {
  BANDANA_RETURN_IF_ERROR(failed_);
  const AddLine* last = nullptr;
  for (const Change& change : changes) {
    const auto* const line = std::get_if<AddLine>(&change);
    if (line == nullptr) continue;
    last = line;
    if (line->seq == 0) failed_ = TakeHeader(*line);
    BANDANA_RETURN_IF_ERROR(failed_);
  }
  if (last == nullptr) return failed_ = store_->Commit(changes);
  const SignedHead head = HeadAfter(*last);
  Transaction all(changes.begin(), changes.end());
  all.push_back(PutMeta{kHeadMeta, FormatSignedHead(head)});
  failed_ = store_->Commit(all);
  if (failed_.ok()) failed_ = Publish(head);
  return failed_;
}

// The transaction is durable, but nothing of it has left: that happens after Commit returns.
absl::Status GuardedStore::Publish(const SignedHead& head) {
  if (mirror_) BANDANA_RETURN_IF_ERROR(mirror_->Extend(*store_));
  if (!anchor_) return absl::OkStatus();
  BANDANA_RETURN_IF_ERROR(anchor_->MoveTo(head));
  if (knows_anchor_) return absl::OkStatus();
  // The store remembers that it has an anchor only after the file is there, so that a crash in between does
  // not look like a lost anchor.
  const Change changes[] = {PutMeta{kAnchorMeta, params_.anchor}};
  knows_anchor_ = true;
  return store_->Commit(changes);
}

}  // namespace bandana::store
