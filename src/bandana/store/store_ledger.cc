#include "bandana/store/store_ledger.h"

#include <algorithm>
#include <string_view>
#include <variant>

#include "absl/time/clock.h"
#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana::store {

absl::StatusOr<std::unique_ptr<StoreLedger>> StoreLedger::Open(Store& store, const LedgerHeader& header,
                                                               Entropy entropy) {
  BANDANA_RETURN_IF_ERROR(CheckBudgets(header));
  LedgerHeader here = header;
  here.of_store = true;
  LedgerVerifier verifier(store.name());
  ReleaseSet released;
  std::string last_run;
  const auto take = [&](const Dated<LedgerEntry>& entry, std::string_view) {
    const std::string& run = entry.record.run;
    if (run.empty()) return absl::OkStatus();
    if (run != last_run) released.Clear();  // only the last run can be open
    last_run = run;
    released.Insert(run, entry.record.key);
    return absl::OkStatus();
  };
  BANDANA_RETURN_IF_ERROR(
      store.ForEachLine(0, [&](const AddLine& line) { return verifier.Take(line.line, take); }));
  const bool is_new = verifier.lines() == 0;
  if (!is_new) {
    BANDANA_RETURN_IF_ERROR(CheckSameHeader(store.name(), verifier.header().record, here));
  }
  Accounts accounts = is_new ? Accounts(here.limits) : verifier.TakeAccounts();
  std::unique_ptr<StoreLedger> ledger(
      new StoreLedger(std::move(here), std::move(accounts), std::move(entropy)));
  ledger->run_ = std::move(last_run);
  ledger->released_ = std::move(released);
  if (is_new) {
    ledger->head_.hash = kNoHash;
    ledger->Append(FormatHeader(ledger->header_, absl::Now()), 0);
  } else {
    ledger->head_ = verifier.head();
  }
  store.WatchCharges(ledger->charges_wait_);
  return ledger;
}

StoreLedger::~StoreLedger() { *charges_wait_ = false; }

void StoreLedger::EnterRun(const std::string& run) {
  const std::string name = RunName(run);
  if (name != run_) released_.Clear();
  run_ = name;
  seeds_.clear();
  draws_.clear();
}

absl::Status StoreLedger::AddJournal(Store& store, const Sealer& sealer) {
  return store.ForEachDraw([&](const AddDraw& draw) -> absl::Status {
    BANDANA_ASSIGN_OR_RETURN(const std::string bytes, sealer.Open(DrawPlace(draw.key), draw.body));
    Key seed;
    if (bytes.size() != seed.size()) {
      return absl::DataLossError(
          fmt::format("the seed of {} has {} bytes, not {}", draw.key, bytes.size(), seed.size()));
    }
    std::copy(bytes.begin(), bytes.end(), seed.begin());
    AddSeed(draw.key, seed);
    return absl::OkStatus();
  });
}

void StoreLedger::AddSeed(const std::string& key, const Key& seed) { seeds_.insert_or_assign(key, seed); }

absl::StatusOr<Key> StoreLedger::SeedOf(const ReleaseKey& key) {
  std::string name = DrawKey(run_, key);
  if (const auto it = seeds_.find(name); it != seeds_.end()) return it->second;
  if (released_.Contains(run_, key)) {
    return absl::FailedPreconditionError(
        fmt::format("node {} has made this release of epoch {} before, and the seed of its noise was erased; "
                    "it must not be "
                    "made again with other noise",
                    key.node.value, key.epoch));
  }
  return seeds_.emplace(std::move(name), entropy_()).first->second;
}

absl::StatusOr<Report> StoreLedger::Once(const ReleaseKey& key, const Cost& cost, const UnitRanges& units,
                                         absl::FunctionRef<absl::StatusOr<Report>()> draw) {
  const std::string name = DrawKey(run_, key);
  if (const auto it = draws_.find(name); it != draws_.end()) return it->second;
  const auto seed = seeds_.find(name);
  if (seed == seeds_.end() && header_.void_reason.empty()) {
    return absl::FailedPreconditionError(fmt::format(
        "the release of node {} in epoch {} has no seed, so that its noise could not be drawn again "
        "after a crash: call SeedOf first",
        key.node.value, key.epoch));
  }
  const bool charged = released_.Contains(run_, key);
  LedgerEntry entry{
      .key = key, .guarantee = cost.guarantee, .loss = cost.loss, .units = units, .draw = {}, .run = run_};
  if (!charged) {
    BANDANA_CHECK(!run_.empty());  // EnterRun comes first
    BANDANA_RETURN_IF_ERROR(CheckCharge(entry));
    BANDANA_RETURN_IF_ERROR(accounts_.Check(entry.loss, units));
  }
  const absl::StatusOr<Report> report = draw();
  if (!report.ok()) return report.status();
  if (!charged) {
    BANDANA_RETURN_IF_ERROR(accounts_.Add(entry.loss, units));
    released_.Insert(run_, key);
    const std::uint64_t seq = head_.seq + 1;
    Append(FormatEntry(entry, header_.limits.measure, seq, absl::Now()), seq);
    if (seed != seeds_.end()) {
      pending_.push_back(AddDraw{name, std::string(seed->second.begin(), seed->second.end())});
    }
    *charges_wait_ = true;
  }
  draws_.emplace(name, *report);
  return report;
}

void StoreLedger::Append(const std::string& content, std::uint64_t seq) {
  head_ = {seq, ChainHash(head_.hash, content)};
  std::string line = Join(content, head_.hash);
  line.pop_back();  // the line end
  pending_.push_back(AddLine{seq, std::move(line)});
}

void StoreLedger::MoveChangesTo(Transaction& transaction, Sealer& sealer) {
  for (Change& change : pending_) {
    if (auto* const drawn = std::get_if<AddDraw>(&change)) {
      drawn->body = sealer.Seal(DrawPlace(drawn->key), drawn->body);
    }
    transaction.push_back(std::move(change));
  }
  pending_.clear();
  *charges_wait_ = false;
}

void StoreLedger::EraseDraws() {
  BANDANA_CHECK(!has_changes());  // their seeds would be lost
  seeds_.clear();
  draws_.clear();
}

}  // namespace bandana::store
