#include "bandana/lab/judge/verdict.h"

#include <cmath>

#include "fmt/format.h"
#include "fmt/ranges.h"

namespace bandana::lab {
namespace {

Json NumberOrNull(const std::optional<double>& number) {
  return number.has_value() ? Json(*number) : Json(nullptr);
}

// Returns null if there is no guarantee.
Json ToJson(const DpGuarantee& guarantee) {
  if (!std::isfinite(guarantee.epsilon)) return nullptr;
  return {{"epsilon", guarantee.epsilon}, {"delta", guarantee.delta}};
}

Json ToJson(const Verdict& verdict) {
  Json json = {{"claim", verdict.claim},
               {"paper", verdict.paper},
               {"version", verdict.version.empty() ? Json(nullptr) : Json(verdict.version)},
               {"expected", verdict.expected},
               {"reason", verdict.reason.empty() ? Json(nullptr) : Json(verdict.reason)},
               {"judged", verdict.judged},
               {"left", verdict.left},
               {"holds", verdict.holds},
               {"evidence", verdict.evidence},
               {"horizons", verdict.horizons},
               {"replicates", verdict.replicates},
               {"resolves", nullptr},
               {"printed", NumberOrNull(verdict.printed)},
               {"measured", NumberOrNull(verdict.measured)},
               {"delivers", Json::array()}};
  if (verdict.resolves.has_value()) {
    json["resolves"] = {{NameOf(verdict.resolves->kind), verdict.resolves->value}};  // null if it is infinite
  }
  for (const OtherGuarantee& other : verdict.delivers) {
    json["delivers"].push_back({{"asked", ToJson(other.asked)}, {"delivered", ToJson(other.delivered)}});
  }
  return json;
}

}  // namespace

const std::string& NameOf(Resolution::Kind kind) {
  static const auto& names = *new std::vector<std::string>{"difference", "exponent", "gap", "epsilon"};
  return names[static_cast<std::size_t>(kind)];
}

Json ToJson(const std::vector<Verdict>& verdicts) {
  Json json = Json::array();
  for (const Verdict& verdict : verdicts) json.push_back(ToJson(verdict));
  return json;
}

std::string RunsInWords(const Verdict& verdict) {
  if (verdict.replicates == 0) return "";
  const std::string runs = fmt::format("{} run{}", verdict.replicates, verdict.replicates == 1 ? "" : "s");
  if (verdict.horizons.empty()) return runs;
  return fmt::format("T = {}, {}", fmt::join(verdict.horizons, " and "), runs);
}

std::string PowerInWords(const Verdict& verdict) {
  if (!verdict.resolves.has_value()) return "";
  const double value = verdict.resolves->value;
  constexpr double kRounding = 1e-9;  // of a number that is the same in all runs
  if (value < kRounding) return "its runs do not differ";
  if (!std::isfinite(value)) return "too few runs to see anything";
  switch (verdict.resolves->kind) {
    case Resolution::Kind::kDifference:
      return fmt::format("sees differences of {:.2g} %", 100 * value);
    case Resolution::Kind::kExponent:
      return fmt::format("sees exponents that differ by {:.2g}", value);
    case Resolution::Kind::kGap:
      return fmt::format("sees sides that differ by {:.2g}", value);
    default:
      return fmt::format("sees an epsilon of {:.2g}", value);
  }
}

std::string InWords(const Verdict& verdict) {
  if (verdict.left) return "paper scale";
  if (!verdict.judged) return "not judged";
  return verdict.holds ? "confirmed" : "not confirmed";
}

}  // namespace bandana::lab
