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
    json["resolves"] = {{verdict.resolves->exponent ? "exponent" : "difference", verdict.resolves->value}};
  }
  for (const OtherGuarantee& other : verdict.delivers) {
    json["delivers"].push_back({{"asked", ToJson(other.asked)}, {"delivered", ToJson(other.delivered)}});
  }
  return json;
}

}  // namespace

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

std::string InWords(const Verdict& verdict) {
  if (verdict.left) return "paper scale";
  if (!verdict.judged) return "not judged";
  return verdict.holds ? "confirmed" : "not confirmed";
}

}  // namespace bandana::lab
