#include "bandana/privacy/ledger/verifier.h"

#include <charconv>

#include "bandana/core/byte_string.h"
#include "bandana/core/sha256.h"
#include "bandana/core/status.h"
#include "bandana/privacy/ledger/file_error.h"
#include "fmt/format.h"

namespace bandana {
namespace {

std::string Describe(const std::optional<Loss>& loss, Measure measure) {
  return loss ? fmt::format("{} {}, delta {}", AmountOf(measure), loss->amount, loss->delta) : "none";
}

std::string Describe(const std::vector<Claim>& claims) {
  std::string text;
  for (const Claim& claim : claims) {
    text += fmt::format("{} ({} neighbours, {}). ", ToText(claim), claim.neighbours, claim.proof);
  }
  return text;
}

}  // namespace

ReleaseSet::Digest ReleaseSet::DigestOf(std::string_view run, const ReleaseKey& key) {
  ByteString bytes;
  bytes.Add(run).Add(std::uint64_t{key.node.value}).Add(static_cast<std::int64_t>(key.epoch));
  const std::string hash = Sha256(bytes.Add(key.question).Take());
  Digest digest{};
  constexpr std::size_t kDigits = 16;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const char* begin = hash.data() + i * kDigits;
    std::from_chars(begin, begin + kDigits, digest[i], 16);
  }
  return digest;
}

absl::Status LedgerVerifier::Fault(std::string message) const {
  return FileError(absl::StatusCode::kDataLoss, name_, std::move(message), static_cast<int>(lines_));
}

absl::Status LedgerVerifier::Take(std::string_view line, Visit visit) {
  ++lines_;
  const std::optional<SplitLine> parts = Split(line);
  if (!parts) return Fault("this is not a line of a ledger: it was altered");
  if (ChainHash(hash_, parts->content) != parts->hash) {
    return Fault("its hash does not fit: this line was altered, or a line before it was removed or added");
  }
  hash_ = parts->hash;
  return lines_ == 1 ? TakeHeader(parts->content) : TakeEntry(parts->content, visit);
}

absl::Status LedgerVerifier::TakeHeader(std::string_view content) {
  absl::StatusOr<Dated<LedgerHeader>> header = ParseHeader(content);
  if (!header.ok()) return Fault(std::string(header.status().message()));
  time_ = header->time;
  accounts_.emplace(header->record.limits);
  header_ = *std::move(header);
  return absl::OkStatus();
}

absl::Status LedgerVerifier::TakeEntry(std::string_view content, Visit visit) {
  absl::StatusOr<Dated<LedgerEntry>> entry = ParseEntry(content, header_->record.limits.measure);
  if (!entry.ok()) return Fault(std::string(entry.status().message()));
  const std::uint64_t seq = lines_ - 1;
  if (entry->seq != seq) {
    return Fault(fmt::format("charge {} stands where charge {} belongs", entry->seq, seq));
  }
  const LedgerEntry& record = entry->record;
  const bool of_store = !record.run.empty() || !record.all_spent.empty();
  if (of_store != header_->record.of_store) {
    return Fault(fmt::format("this line has format {}, and the ledger has format {}", of_store ? 3 : 2,
                             of_store ? 2 : 3));
  }
  time_ = entry->time;
  if (!record.all_spent.empty()) {
    accounts_->SpendAll();
    return visit(*entry, hash_);
  }
  if (!charged_.Insert(record.run, record.key)) {
    return Fault(fmt::format("node {} is charged for the same question of epoch {} a second time",
                             record.key.node.value, record.key.epoch));
  }
  if (const absl::Status paid = accounts_->Add(record.loss, record.units); !paid.ok()) {
    return Fault("over budget: " + std::string(paid.message()));
  }
  return visit(*entry, hash_);
}

absl::Status CheckBudgets(const LedgerHeader& header) {
  const Limits& limits = header.limits;
  BANDANA_RETURN_IF_ERROR(CheckLoss(limits.measure, limits.per_unit, "ledger.budget"));
  if (limits.deployment) {
    BANDANA_RETURN_IF_ERROR(CheckLoss(limits.measure, *limits.deployment, "ledger.deployment_budget"));
  }
  return absl::OkStatus();
}

absl::Status CheckCharge(const LedgerEntry& entry) {
  if (entry.units.empty()) return absl::InvalidArgumentError("a charge must name at least one unit");
  if (entry.units.count() > UnitRanges::kMostUnits) {
    return absl::InvalidArgumentError(fmt::format("a charge names {} units, but at most {} are accepted",
                                                  entry.units.count(), UnitRanges::kMostUnits));
  }
  return CheckLoss(Measure::kApproximateDp, {entry.guarantee.epsilon, entry.guarantee.delta},
                   "charge.guarantee");
}

absl::Status CheckSameHeader(const std::string& name, const LedgerHeader& there, const LedgerHeader& here) {
  const auto differs = [&](std::string_view what, const std::string& a, const std::string& b) {
    if (a == b) return absl::OkStatus();
    return FileError(
        absl::StatusCode::kFailedPrecondition, name,
        fmt::format("this is the ledger of another deployment, whose {} is '{}', not '{}'", what, a, b));
  };
  const auto measure = [](const LedgerHeader& header) { return header.limits.measure; };
  if (there.of_store != here.of_store) {
    return FileError(absl::StatusCode::kFailedPrecondition, name,
                     there.of_store ? "this is a copy of the ledger of a store, which only the store's role "
                                      "writes; name another file"
                                    : "this is the ledger of one run without a store; name another file");
  }
  BANDANA_RETURN_IF_ERROR(differs("name", there.deployment, here.deployment));
  BANDANA_RETURN_IF_ERROR(differs("configuration", there.configuration, here.configuration));
  BANDANA_RETURN_IF_ERROR(differs("list of claims", Describe(there.claims), Describe(here.claims)));
  BANDANA_RETURN_IF_ERROR(differs("reason why claims are void", there.void_reason, here.void_reason));
  BANDANA_RETURN_IF_ERROR(
      differs("measure", std::string(NameOf(measure(there))), std::string(NameOf(measure(here)))));
  BANDANA_RETURN_IF_ERROR(differs("budget of a client", Describe(there.limits.per_unit, measure(there)),
                                  Describe(here.limits.per_unit, measure(here))));
  return differs("budget of all releases", Describe(there.limits.deployment, measure(there)),
                 Describe(here.limits.deployment, measure(here)));
}

}  // namespace bandana
