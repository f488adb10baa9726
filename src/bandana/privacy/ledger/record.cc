#include "bandana/privacy/ledger/record.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "bandana/core/sha256.h"
#include "bandana/core/status.h"
#include "bandana/privacy/wire.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace bandana {
namespace {

constexpr std::string_view kHashField = R"(,"hash":")";
constexpr std::string_view kLineEnd = R"("})";
constexpr std::string_view kRunField = R"(,"run":)";
constexpr std::string_view kAllSpentField = R"(,"all_spent":)";
constexpr std::size_t kHashDigits = 64;
constexpr std::size_t kRunDigits = 32;

std::string Quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string FormatTimestamp(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone());
}

std::string FormatLoss(const Loss& loss, Measure measure) {
  return fmt::format(R"({{"{}":{},"delta":{}}})", AmountOf(measure), loss.amount, loss.delta);
}

std::string QuoteOrNull(std::string_view text) { return text.empty() ? "null" : Quote(text); }

std::string FormatClaim(const Claim& claim) {
  return fmt::format(
      R"({{"adversary":{},"epsilon":{},"delta":{},"unit":{},"neighbours":{},"proof":{},"only_if":{},"asked":{}}})",
      Quote(claim.adversary), claim.guarantee.epsilon, claim.guarantee.delta, Quote(claim.unit),
      Quote(claim.neighbours), Quote(claim.proof), QuoteOrNull(claim.only_if), claim.asked);
}

std::string FormatHeaderAt(const LedgerHeader& header, std::string_view time) {
  std::vector<std::string> claims;
  for (const Claim& claim : header.claims) claims.push_back(FormatClaim(claim));
  return fmt::format(
      R"({}"time":{},"deployment":{},"configuration":{},"claims":[{}],"void":{},)"
      R"("measure":"{}","budget":{},"deployment_budget":{})",
      header.of_store ? kStoreMagic : kMagic, Quote(time), Quote(header.deployment),
      Quote(header.configuration), fmt::join(claims, ","), QuoteOrNull(header.void_reason),
      NameOf(header.limits.measure), FormatLoss(header.limits.per_unit, header.limits.measure),
      header.limits.deployment ? FormatLoss(*header.limits.deployment, header.limits.measure) : "null");
}

std::string FormatEntryAt(const LedgerEntry& entry, Measure measure, std::uint64_t seq,
                          std::string_view time) {
  if (!entry.all_spent.empty()) {
    return fmt::format(R"({{"seq":{},"time":{},"all_spent":{})", seq, Quote(time), Quote(entry.all_spent));
  }
  fmt::memory_buffer text;
  fmt::format_to(std::back_inserter(text), R"({{"seq":{},"time":{},)", seq, Quote(time));
  if (!entry.run.empty()) fmt::format_to(std::back_inserter(text), R"("run":{},)", Quote(entry.run));
  fmt::format_to(std::back_inserter(text),
                 R"("node":{},"epoch":{},"question":{},"guarantee":{},"loss":{},"units":"{}")",
                 entry.key.node.value, entry.key.epoch, Quote(entry.key.question),
                 FormatLoss({entry.guarantee.epsilon, entry.guarantee.delta}, Measure::kApproximateDp),
                 FormatLoss(entry.loss, measure), entry.units.ToText());
  if (!entry.run.empty()) return fmt::to_string(text);
  fmt::format_to(std::back_inserter(text), R"(,"bits":{},"quorum":{},"draw":[)", entry.draw.bits(),
                 entry.draw.quorum());
  bool first = true;
  for (const std::int64_t unit : Wire::Units(entry.draw)) {
    if (!std::exchange(first, false)) text.push_back(',');
    fmt::format_to(std::back_inserter(text), "{}", unit);
  }
  text.push_back(']');
  return fmt::to_string(text);
}

// Reads a content from left to right. After the first unexpected text every further read fails.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool ok() const { return ok_; }
  bool done() const { return ok_ && rest_.empty(); }
  bool Sees(std::string_view literal) const { return ok_ && rest_.starts_with(literal); }

  Scanner& Literal(std::string_view literal) {
    ok_ = Sees(literal);
    if (ok_) rest_.remove_prefix(literal.size());
    return *this;
  }

  template <class T>
  Scanner& Number(T& number) {
    if (!ok_) return *this;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    ok_ = error == std::errc();
    if (ok_) rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return *this;
  }

  Scanner& Text(std::string& text) {
    Literal("\"");
    text.clear();
    while (ok_ && !rest_.empty() && rest_.front() != '"') {
      if (rest_.front() != '\\') {
        text += rest_.front();
        rest_.remove_prefix(1);
      } else if (rest_.starts_with("\\u")) {
        unsigned code = 0x100;
        if (rest_.size() >= 6) std::from_chars(rest_.data() + 2, rest_.data() + 6, code, 16);
        ok_ = code < 0x20;
        text += static_cast<char>(code);
        rest_.remove_prefix(std::min<std::size_t>(6, rest_.size()));
      } else {
        ok_ = rest_.size() >= 2;
        if (ok_) text += rest_[1];
        rest_.remove_prefix(std::min<std::size_t>(2, rest_.size()));
      }
    }
    return Literal("\"");
  }

  /// Reads `null` as an empty text.
  Scanner& TextOrNull(std::string& text) {
    text.clear();
    return Sees("null") ? Literal("null") : Text(text);
  }

  Scanner& Flag(bool& flag) {
    flag = Sees("true");
    return Literal(flag ? "true" : "false");
  }

  Scanner& TheClaim(Claim& claim) {
    Literal(R"({"adversary":)").Text(claim.adversary);
    Literal(R"(,"epsilon":)").Number(claim.guarantee.epsilon);
    Literal(R"(,"delta":)").Number(claim.guarantee.delta);
    Literal(R"(,"unit":)").Text(claim.unit);
    Literal(R"(,"neighbours":)").Text(claim.neighbours);
    Literal(R"(,"proof":)").Text(claim.proof);
    Literal(R"(,"only_if":)").TextOrNull(claim.only_if);
    return Literal(R"(,"asked":)").Flag(claim.asked).Literal("}");
  }

  Scanner& TheDraw(NodeId node, Report& draw) {
    Count bits = 0;
    Count quorum = 0;
    std::vector<std::int64_t> units;
    Literal(R"(,"bits":)").Number(bits).Literal(R"(,"quorum":)").Number(quorum).Literal(R"(,"draw":[)");
    while (ok_ && !Sees("]")) {
      if (!units.empty()) Literal(",");
      Number(units.emplace_back());
    }
    draw = Wire::FromUnits(node, std::move(units), bits, quorum);
    return Literal("]");
  }

  Scanner& TheLoss(Loss& loss, Measure measure) {
    return Literal(fmt::format(R"({{"{}":)", AmountOf(measure)))
        .Number(loss.amount)
        .Literal(R"(,"delta":)")
        .Number(loss.delta)
        .Literal("}");
  }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

bool IsHexadecimal(std::string_view text, std::size_t digits) {
  return text.size() == digits && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

bool IsRun(std::string_view text) { return IsHexadecimal(text, kRunDigits); }

absl::Status NotARecord(std::string_view what) {
  return absl::DataLossError(fmt::format("the line is not a {}", what));
}

}  // namespace

std::string FormatHeader(const LedgerHeader& header, absl::Time time) {
  return FormatHeaderAt(header, FormatTimestamp(time));
}

std::string FormatEntry(const LedgerEntry& entry, Measure measure, std::uint64_t seq, absl::Time time) {
  return FormatEntryAt(entry, measure, seq, FormatTimestamp(time));
}

std::optional<SplitLine> Split(std::string_view line) {
  const std::size_t frame = kHashField.size() + kHashDigits + kLineEnd.size();
  if (line.size() < frame || !line.ends_with(kLineEnd)) return std::nullopt;
  const std::size_t at = line.size() - frame;
  if (line.substr(at, kHashField.size()) != kHashField) return std::nullopt;
  const std::string_view hash = line.substr(at + kHashField.size(), kHashDigits);
  if (!IsHash(hash)) return std::nullopt;
  return SplitLine{line.substr(0, at), hash};
}

std::string Join(std::string_view content, std::string_view hash) {
  return fmt::format("{}{}{}{}\n", content, kHashField, hash, kLineEnd);
}

std::string ChainHash(std::string_view previous, std::string_view content) {
  std::string both;
  both.reserve(previous.size() + content.size());
  both.append(previous).append(content);
  return Sha256(both);
}

bool IsHash(std::string_view text) { return IsHexadecimal(text, kHashDigits); }

absl::StatusOr<Dated<LedgerHeader>> ParseHeader(std::string_view content) {
  Dated<LedgerHeader> header;
  std::string measure;
  Scanner scan(content);
  header.record.of_store = scan.Sees(kStoreMagic);
  scan.Literal(header.record.of_store ? kStoreMagic : kMagic).Literal(R"("time":)").Text(header.time);
  scan.Literal(R"(,"deployment":)").Text(header.record.deployment);
  scan.Literal(R"(,"configuration":)").Text(header.record.configuration);
  scan.Literal(R"(,"claims":[)");
  std::vector<Claim>& claims = header.record.claims;
  while (scan.ok() && !scan.Sees("]")) {
    if (!claims.empty()) scan.Literal(",");
    scan.TheClaim(claims.emplace_back());
  }
  scan.Literal(R"(],"void":)").TextOrNull(header.record.void_reason);
  scan.Literal(R"(,"measure":)").Text(measure);
  const std::optional<Measure> known = MeasureOf(measure);
  if (!scan.ok() || !known) return NotARecord("header of a ledger of format 2 or 3");
  Limits& limits = header.record.limits;
  limits.measure = *known;
  scan.Literal(R"(,"budget":)").TheLoss(limits.per_unit, *known).Literal(R"(,"deployment_budget":)");
  if (scan.Sees("null")) {
    scan.Literal("null");
  } else {
    scan.TheLoss(limits.deployment.emplace(), *known);
  }
  if (!scan.done() || FormatHeaderAt(header.record, header.time) != content) {
    return NotARecord("header of a ledger of format 2 or 3");
  }
  BANDANA_RETURN_IF_ERROR(CheckLoss(*known, limits.per_unit, "budget"));
  if (limits.deployment) {
    BANDANA_RETURN_IF_ERROR(CheckLoss(*known, *limits.deployment, "deployment_budget"));
  }
  return header;
}

absl::StatusOr<Dated<LedgerEntry>> ParseEntry(std::string_view content, Measure measure) {
  Dated<LedgerEntry> entry;
  LedgerEntry& record = entry.record;
  Loss alone;
  std::string units;
  Scanner scan(content);
  scan.Literal(R"({"seq":)").Number(entry.seq).Literal(R"(,"time":)").Text(entry.time);
  if (scan.Sees(kAllSpentField)) {
    scan.Literal(kAllSpentField).Text(record.all_spent);
    const bool same = scan.done() && FormatEntryAt(record, measure, entry.seq, entry.time) == content;
    if (!same || record.all_spent.empty()) return NotARecord("charge");
    return entry;
  }
  if (scan.Sees(kRunField)) scan.Literal(kRunField).Text(record.run);
  scan.Literal(R"(,"node":)").Number(record.key.node.value);
  scan.Literal(R"(,"epoch":)").Number(record.key.epoch);
  scan.Literal(R"(,"question":)").Text(record.key.question);
  scan.Literal(R"(,"guarantee":)").TheLoss(alone, Measure::kApproximateDp);
  scan.Literal(R"(,"loss":)").TheLoss(record.loss, measure);
  scan.Literal(R"(,"units":)").Text(units);
  if (record.run.empty()) scan.TheDraw(record.key.node, record.draw);
  if (!scan.done() || !(record.run.empty() || IsRun(record.run))) return NotARecord("charge");
  record.guarantee = {alone.amount, alone.delta};
  BANDANA_ASSIGN_OR_RETURN(record.units, UnitRanges::Parse(units));
  if (FormatEntryAt(record, measure, entry.seq, entry.time) != content) return NotARecord("charge");
  BANDANA_RETURN_IF_ERROR(CheckLoss(Measure::kApproximateDp, alone, "guarantee"));
  BANDANA_RETURN_IF_ERROR(CheckLoss(measure, record.loss, "loss"));
  return entry;
}

absl::StatusOr<LineBeginning> ParseBeginning(std::string_view content, Measure measure) {
  LineBeginning line;
  std::string time;
  Loss alone;
  Loss loss;
  Scanner scan(content);
  scan.Literal(R"({"seq":)").Number(line.seq).Literal(R"(,"time":)").Text(time);
  line.all_spent = scan.Sees(kAllSpentField);
  if (line.all_spent) return line;
  scan.Literal(kRunField).Text(line.run);
  scan.Literal(R"(,"node":)").Number(line.key.node.value);
  scan.Literal(R"(,"epoch":)").Number(line.key.epoch);
  scan.Literal(R"(,"question":)").Text(line.key.question);
  scan.Literal(R"(,"guarantee":)").TheLoss(alone, Measure::kApproximateDp);
  scan.Literal(R"(,"loss":)").TheLoss(loss, measure);
  if (!scan.ok() || !IsRun(line.run)) return NotARecord("charge of a ledger of format 3");
  BANDANA_RETURN_IF_ERROR(CheckLoss(Measure::kApproximateDp, alone, "guarantee"));
  BANDANA_RETURN_IF_ERROR(CheckLoss(measure, loss, "loss"));
  return line;
}

std::string FormatHead(const LedgerHead& head) {
  return fmt::format("{{\"seq\":{},\"hash\":\"{}\"}}\n", head.seq, head.hash);
}

std::optional<LedgerHead> ParseHead(std::string_view text) {
  LedgerHead head;
  Scanner scan(text);
  scan.Literal(R"({"seq":)").Number(head.seq).Literal(R"(,"hash":)").Text(head.hash).Literal("}\n");
  if (!scan.done() || !IsHash(head.hash) || FormatHead(head) != text) return std::nullopt;
  return head;
}

}  // namespace bandana
