#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "bandana/privacy/ledger/reader.h"
#include "bandana/privacy/ledger/record.h"
#include "bandana/privacy/ledger/unit_ranges.h"
#include "bandana/privacy/ledger/verifier.h"
#include "bandana/privacy/wire.h"
#include "bandana/store/signed_head.h"
#include "tests/fuzz/files.h"
#include "tests/fuzz/fuzz.h"

// Lines of ledgers, their heads, and signed heads. A text that is accepted has one spelling only. For an
// input that begins with '#', the lines after it get correct hashes, so that a ledger verifies as far as its
// contents do: then no release is charged twice and nobody is charged beyond a budget, and a file says what
// the lines say.
namespace bandana::fuzz {
namespace {

constexpr std::uint64_t kMostUnits = 1000;  // a line may name 2^27, and each costs memory

void CheckText(std::string_view text) {
  if (const auto parts = Split(text)) {
    BANDANA_CHECK(Join(parts->content, parts->hash) == std::string(text) + "\n");
  }
  if (const auto head = ParseHead(text)) BANDANA_CHECK(FormatHead(*head) == text);
  if (const auto head = store::ParseSignedHead(text)) BANDANA_CHECK(store::FormatSignedHead(*head) == text);
  if (const auto units = UnitRanges::Parse(text); units.ok()) {
    BANDANA_CHECK(units->ToText() == text && units->count() <= UnitRanges::kMostUnits);
  }
  if (const auto header = ParseHeader(text); header.ok()) {
    BANDANA_CHECK(CheckLoss(header->record.limits.measure, header->record.limits.per_unit, "budget").ok());
  }
  for (const Measure measure : {Measure::kApproximateDp, Measure::kZcdp, Measure::kGdp}) {
    const auto entry = ParseEntry(text, measure);
    if (!entry.ok()) continue;
    BANDANA_CHECK(CheckLoss(measure, entry->record.loss, "loss").ok() || !entry->record.all_spent.empty());
    if (entry->record.run.empty() && entry->record.all_spent.empty()) continue;  // format 2
    const auto beginning = ParseBeginning(text, measure);
    BANDANA_CHECK(beginning.ok() && beginning->seq == entry->seq && beginning->key == entry->record.key);
    BANDANA_CHECK(beginning->run == entry->record.run);
    BANDANA_CHECK(beginning->all_spent == !entry->record.all_spent.empty());
  }
}

bool NamesFewUnits(std::string_view content) {
  const std::size_t at = content.find(R"("units":")");
  if (at == std::string_view::npos) return true;
  const std::string_view rest = content.substr(at + 9);
  const auto units = UnitRanges::Parse(rest.substr(0, rest.find('"')));
  return !units.ok() || units->count() <= kMostUnits;
}

void CheckLedger(std::string_view text) {
  LedgerVerifier verifier("fuzz");
  std::set<std::string> seen;
  std::string file;
  LedgerHead head{0, std::string(kNoHash)};
  for (const absl::string_view content : absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    if (!NamesFewUnits({content.data(), content.size()})) return;
    const std::string next = ChainHash(head.hash, {content.data(), content.size()});
    const std::string line = Join({content.data(), content.size()}, next);
    const absl::Status taken =
        verifier.Take(std::string_view(line).substr(0, line.size() - 1),
                      [&](const Dated<LedgerEntry>& entry, std::string_view) {
                        if (!entry.record.all_spent.empty()) return absl::OkStatus();
                        const ReleaseKey& key = entry.record.key;
                        BANDANA_CHECK(seen.insert(entry.record.run + " " + std::to_string(key.node.value) +
                                                  " " + std::to_string(key.epoch) + " " + key.question)
                                          .second);
                        return absl::OkStatus();
                      });
    if (!taken.ok()) break;
    head = {head.seq + (file.empty() ? 0 : 1), next};
    file += line;
  }
  if (file.empty()) return;
  const Accounts& accounts = verifier.accounts();
  const Limits& limits = accounts.limits();
  BANDANA_CHECK(accounts.largest().amount <= limits.per_unit.amount);
  BANDANA_CHECK(accounts.largest().delta <= limits.per_unit.delta);
  if (limits.deployment) BANDANA_CHECK(accounts.total().amount <= limits.deployment->amount);
  static const Folder& folder = *new Folder();
  const std::string path = folder / "ledger";
  Write(path, file);
  Write(HeadPath(path), FormatHead(head));
  const auto state = ReadLedger(path, {}, [](const auto&, std::string_view) { return absl::OkStatus(); });
  BANDANA_CHECK(state.ok() && state->head.seq == head.seq && state->head.hash == head.hash);
  BANDANA_CHECK(state->accounts.largest() == accounts.largest() && state->bytes == file.size());
}

void Run(std::string_view input) {
  if (input.starts_with('#')) return CheckLedger(input.substr(1));
  CheckText(input);
}

}  // namespace

Target MakeTarget() {
  const absl::Time time = absl::UnixEpoch() + absl::Hours(500'000);
  LedgerHeader header{.deployment = "d",
                      .configuration = "c",
                      .claims = {{.adversary = "everyone",
                                  .guarantee = {1, 1e-5},
                                  .unit = "client",
                                  .neighbours = "replace-one",
                                  .proof = "docs/proofs/x.md",
                                  .only_if = "it is so"}},
                      .void_reason = "why \"\x01\\",
                      .limits = {.per_unit = {2, 0.5}, .deployment = Loss{10, 0.5}}};
  LedgerEntry entry{.key = {NodeId{0}, 1, "q"},
                    .guarantee = {0.5, 1e-5},
                    .loss = {0.5, 1e-5},
                    .units = UnitRanges::From(NodeId{1}, 20),
                    .draw = Wire::FromUnits(NodeId{0}, {1, -2, 1LL << 40}, 12, 3)};
  const auto line = [&](std::uint64_t seq) { return FormatEntry(entry, Measure::kApproximateDp, seq, time); };
  const std::string hash(64, 'a');
  Target target{
      .run = Run,
      .words = {"null", "\"all_spent\":\"why\"", "\"run\":\"", "nan", "inf", "1e308", "-0", "1-2,4",
                "0-4294967295", "\\u0001", "18446744073709551615", "{\"rho\":", "\"zcdp\"", "\"gdp\""}};
  const auto add = [&](const char* name, std::string text) {
    target.seeds.push_back({name, std::move(text)});
  };
  add("header", FormatHeader(header, time));
  add("entry", line(1));
  std::vector<std::string> lines = {FormatHeader(header, time), line(1)};
  entry.key.epoch = 2;
  lines.push_back(line(2));
  add("ledger", "#" + absl::StrJoin(lines, "\n"));
  header.of_store = true;
  entry.run = std::string(32, 'b');
  entry.draw = {};
  lines = {FormatHeader(header, time), line(1)};
  entry.all_spent = "the store was restored";
  lines.push_back(line(2));
  add("ledger-of-a-store", "#" + absl::StrJoin(lines, "\n"));
  add("entry-of-a-store", lines[1]);
  add("all-spent", lines[2]);
  add("line", Join("{\"seq\":1", hash).substr(0, Join("{\"seq\":1", hash).size() - 1));
  add("head", FormatHead({7, hash}));
  add("units", "1-500,502");
  add("signed-head", store::FormatSignedHead({.configuration = "c",
                                              .store = std::string(32, '0'),
                                              .head = {7, hash},
                                              .time = "2026-11-19T18:00:00.000Z",
                                              .signature = std::string(64, 's')}));
  return target;
}

}  // namespace bandana::fuzz
