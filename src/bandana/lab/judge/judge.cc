#include "bandana/lab/judge/judge.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "bandana/core/status.h"
#include "bandana/lab/judge/code_judges.h"
#include "bandana/lab/judge/comparison.h"
#include "bandana/lab/judge/series.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace bandana::lab {
namespace {

absl::StatusOr<Finding> JudgeTrend(const Case& of) {
  BANDANA_ASSIGN_OR_RETURN(const NamedLine line, LineOf(*of.claim.of, of));
  if (line.line.x.size() < 2) return absl::NotFoundError(line.name + " has fewer than two places");
  return FallsOrRises(line, of.claim.is == ClaimKind::kRises);
}

absl::StatusOr<Finding> JudgeComparison(const Case& of) {
  BANDANA_ASSIGN_OR_RETURN(const NamedLine a, LineOf(*of.claim.of, of));
  BANDANA_ASSIGN_OR_RETURN(const NamedLine b, LineOf(*of.claim.than, of));
  BANDANA_ASSIGN_OR_RETURN(const double factor, NumberOf(of.claim.factor, of));
  return Compared(a, b,
                  {.is = of.claim.is,
                   .by = of.claim.by,
                   .places = of.claim.place,
                   .factor = factor,
                   .share = of.claim.share,
                   .tolerance = of.claim.tolerance});
}

absl::StatusOr<Finding> JudgeGrowth(const Case& of) {
  const bool at_most = of.claim.at_most.has_value();
  BANDANA_ASSIGN_OR_RETURN(const double rate, NumberOf(at_most ? *of.claim.at_most : *of.claim.like, of));
  BANDANA_ASSIGN_OR_RETURN(const NamedLine a, LineOf(*of.claim.of, of));
  if (!of.claim.above.has_value()) {
    return at_most ? GrowsAtMost(a, rate, of.claim.tolerance, of.claim.by)
                   : GrowsLike(a, rate, of.claim.tolerance, of.claim.by);
  }
  BANDANA_ASSIGN_OR_RETURN(const NamedLine b, LineOf(*of.claim.above, of));
  if (at_most) return ExcessGrowsAtMost(a, b, rate, of.claim.tolerance);
  BANDANA_ASSIGN_OR_RETURN(const std::vector<SharedPlace> places, SharedPlaces(a, b));
  NamedLine excess{fmt::format("{} above {}", a.name, b.name), {}, NamedLine::Kind::kAlong};
  for (const SharedPlace& place : places) {
    excess.line.x.push_back(place.x);
    excess.line.y.emplace_back();
    for (std::size_t i = 0; i < place.a.size(); ++i) excess.line.y.back().push_back(place.a[i] - place.b[i]);
  }
  return GrowsLike(excess, rate, of.claim.tolerance, of.claim.by);
}

DpGuarantee GuaranteeOf(const Json& json) {
  return {json["epsilon"].get<double>(), json["delta"].get<double>()};
}

// Returns what was asked for and the weakest guarantee that the unit asked for has. Without a guarantee, the
// delivered epsilon is infinite.
OtherGuarantee GuaranteesOf(const Json& privacy) {
  const DpGuarantee asked = GuaranteeOf(privacy["nominal"]);
  const auto found = [&](const char* key) {
    const auto it = privacy.find(key);
    return it != privacy.end() && !it->is_null() ? &*it : nullptr;
  };
  const Json* weakest = found("weakest");
  const Json* delivered = found("delivered");
  if (weakest == nullptr && delivered != nullptr && !delivered->empty()) weakest = &delivered->front();
  if (weakest == nullptr || found("void") != nullptr) return {asked, {HUGE_VAL, 1}};
  return {asked, GuaranteeOf(*weakest)};
}

// Returns the guarantees that differ from what was asked for, at the points of the claim. A delivered epsilon
// within a tenth below the asked one is the slack of a calibration, and is not another guarantee.
std::vector<OtherGuarantee> OtherGuaranteesOf(const std::vector<Case>& cases) {
  std::map<std::pair<double, double>, OtherGuarantee> others;
  for (const Case& of : cases) {
    for (const Series* series : SeriesOf(of.claim)) {
      for (const MeasuredPoint* point : of.findings.Points(ChoiceOf(*series, of))) {
        const auto privacy = point->json->find("privacy");
        if (privacy == point->json->end() || (*privacy)["nominal"].is_null()) continue;
        const OtherGuarantee both = GuaranteesOf(*privacy);
        const double ratio = both.delivered.epsilon / both.asked.epsilon;
        if (ratio > 0.9 && ratio <= 1 + 1e-9 && both.delivered.delta <= both.asked.delta) continue;
        others[{both.asked.epsilon, both.delivered.epsilon}] = both;
      }
    }
  }
  std::vector<OtherGuarantee> list;
  for (const auto& [epsilons, other] : others) list.push_back(other);
  return list;
}

// Notes at which horizons and with how many runs the points of the claim were measured.
void NoteRuns(const std::vector<Case>& cases, Verdict& verdict) {
  std::set<double> horizons;
  for (const Case& of : cases) {
    for (const Series* series : SeriesOf(of.claim)) {
      for (const MeasuredPoint* point : of.findings.Points(ChoiceOf(*series, of))) {
        const auto horizon = point->keys.find("horizon");
        if (horizon != point->keys.end()) horizons.insert(horizon->second.get<double>());
        const std::size_t replicates = point->replicates();
        verdict.replicates = verdict.replicates == 0 ? replicates : std::min(verdict.replicates, replicates);
      }
    }
  }
  verdict.horizons.assign(horizons.begin(), horizons.end());
}

std::string InWords(const std::vector<OtherGuarantee>& others) {
  std::vector<std::string> words;
  for (const OtherGuarantee& other : others) {
    words.push_back(std::isfinite(other.delivered.epsilon)
                        ? fmt::format("epsilon = {:.3g} where {:.3g} is asked", other.delivered.epsilon,
                                      other.asked.epsilon)
                        : fmt::format("no guarantee where {:.3g} is asked", other.asked.epsilon));
  }
  return fmt::format("The run delivers {}", fmt::join(words, ", "));
}

absl::StatusOr<Finding> JudgePrinted(const Case& of) {
  BANDANA_ASSIGN_OR_RETURN(const NamedLine line, LineOf(*of.claim.of, of));
  BANDANA_ASSIGN_OR_RETURN(const double printed, NumberOf(*of.claim.value, of));
  BANDANA_ASSIGN_OR_RETURN(const double factor, NumberOf(of.claim.factor, of));
  if (line.line.x.size() != 1) return absl::NotFoundError(line.name + " is not one point");
  if (printed == 0) return absl::NotFoundError("a printed number of 0 has no relative difference");
  if (!of.claim.digit.has_value()) return Prints(line, printed, factor);
  BANDANA_ASSIGN_OR_RETURN(const double digit, NumberOf(*of.claim.digit, of));
  return RoundsTo(line, printed, digit);
}

// Compares the guarantee that the noise delivers with the nominal one.
absl::StatusOr<Finding> JudgeDelivery(const Case& of) {
  BANDANA_ASSIGN_OR_RETURN(const MeasuredPoint* point,
                           of.findings.ThePoint(ChoiceOf(std::get<Series>(*of.claim.of), of)));
  const Json& privacy = (*point->json)["privacy"];
  if (privacy["nominal"].is_null()) return absl::NotFoundError("the point has no nominal guarantee");
  const OtherGuarantee other = GuaranteesOf(privacy);
  const bool holds =
      other.delivered.epsilon <= other.asked.epsilon && other.delivered.delta <= other.asked.delta;
  if (!std::isfinite(other.delivered.epsilon)) return Finding{false, "no guarantee is delivered"};
  return Finding{holds, fmt::format("asked ({:.3g}, {:.3g}), delivered ({:.3g}, {:.3g})", other.asked.epsilon,
                                    other.asked.delta, other.delivered.epsilon, other.delivered.delta)};
}

absl::StatusOr<Finding> JudgeInequality(const Case& of) {
  std::map<std::string, NamedLine> lines;
  std::vector<std::string> words;
  for (const auto& [name, series] : of.claim.let) {
    BANDANA_ASSIGN_OR_RETURN(NamedLine line, LineOf(series, of));
    if (line.kind == NamedLine::Kind::kOnePlace) {
      words.push_back(fmt::format("{} = {}", name, Figure(MeanOf(line.line.y.front()))));
    }
    lines.emplace(name, std::move(line));
  }
  const Formula::Scope scope = ScopeOf(lines, of);
  std::vector<std::string> sides;
  bool holds = true;
  for (const Formula& that : of.claim.that) {
    BANDANA_ASSIGN_OR_RETURN(const double value, that.Evaluate(scope));
    BANDANA_ASSIGN_OR_RETURN(const std::string explained, that.Explain(scope));
    holds = holds && value == 1;
    sides.push_back(explained);
  }
  std::string evidence = fmt::format("{}", fmt::join(sides, ", "));
  if (!words.empty()) evidence += fmt::format(" with {}", fmt::join(words, ", "));
  const bool over_time = std::any_of(lines.begin(), lines.end(), [](const auto& named) {
    return named.second.kind == NamedLine::Kind::kOverTime;
  });
  if (!over_time) return Finding{holds, evidence, ResolutionOf(lines, of.claim.by)};
  BANDANA_ASSIGN_OR_RETURN(const std::optional<Resolution> resolves, GapResolutionOf(lines, of));
  return Finding{holds, evidence, resolves};
}

absl::StatusOr<Finding> JudgeCase(const Case& of) {
  switch (of.claim.is) {
    case ClaimKind::kFalls:
    case ClaimKind::kRises:
      return JudgeTrend(of);
    case ClaimKind::kGrows:
      return JudgeGrowth(of);
    case ClaimKind::kPrints:
      return JudgePrinted(of);
    case ClaimKind::kDelivers:
      return JudgeDelivery(of);
    case ClaimKind::kInequality:
      return JudgeInequality(of);
    case ClaimKind::kCode:
      return CodeJudges().at(of.claim.judge)(of);
    default:
      return JudgeComparison(of);
  }
}

// Returns the values of `each` in words. The evidence of an inequality names no series that would tell them.
std::string CaseInWords(const Case& of) {
  std::vector<std::string> words;
  for (const auto& [name, value] : of.bindings) {
    if (of.claim.bindings.contains(name)) continue;
    words.push_back(fmt::format("{} = {}", name.substr(name.rfind('.') + 1), TextOf(value)));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

absl::StatusOr<Finding> JudgeAll(const PaperClaim& claim, const std::vector<Case>& cases) {
  Finding all{true, ""};
  for (const Case& each : cases) {
    BANDANA_ASSIGN_OR_RETURN(const Finding one, JudgeCase(each));
    all.holds = all.holds && one.holds;
    if (!all.evidence.empty()) all.evidence += "; ";
    if (cases.size() > 1 && claim.is == ClaimKind::kInequality) all.evidence += CaseInWords(each) + ": ";
    all.evidence += one.evidence;
    if (cases.size() > 1 && !one.holds) all.evidence += " (not so)";
    if (one.resolves.has_value() &&
        (!all.resolves.has_value() || one.resolves->value > all.resolves->value)) {
      all.resolves = one.resolves;
    }
    all.measured = cases.size() == 1 ? one.measured : std::nullopt;
    all.printed = cases.size() == 1 ? one.printed : std::nullopt;
  }
  if (claim.negated) all.holds = !all.holds;
  return all;
}

}  // namespace

namespace {

Verdict WordsOf(const PaperClaim& claim) {
  return {.claim = claim.says,
          .paper = claim.paper,
          .expected = claim.expected,
          .version = NameOf(claim.version),
          .reason = claim.reason};
}

}  // namespace

Verdict LeftToPaperScale(const PaperClaim& claim) {
  Verdict verdict = WordsOf(claim);
  verdict.judged = false;
  verdict.left = true;
  verdict.evidence =
      "judged with --scale paper only: here the horizon is too short, or there are too few runs";
  return verdict;
}

Verdict Judge(const PaperClaim& claim, const Findings& findings) {
  Verdict verdict = WordsOf(claim);
  const absl::StatusOr<std::vector<Case>> cases = CasesOf(claim, findings);
  const absl::StatusOr<Finding> finding =
      cases.ok() ? JudgeAll(claim, *cases) : absl::StatusOr<Finding>(cases.status());
  if (!finding.ok()) {
    verdict.judged = false;
    verdict.evidence = "cannot be judged: " + std::string(finding.status().message());
    return verdict;
  }
  verdict.holds = finding->holds;
  verdict.evidence = finding->evidence;
  verdict.resolves = finding->resolves;
  verdict.measured = finding->measured;
  verdict.printed = finding->printed;
  NoteRuns(*cases, verdict);
  verdict.delivers = OtherGuaranteesOf(*cases);
  if (!verdict.delivers.empty()) verdict.evidence += ". " + InWords(verdict.delivers);
  if (!claim.expected) verdict.evidence += ". Not expected to hold: " + claim.reason;
  return verdict;
}

absl::StatusOr<BoundLine> Draw(const Bound& bound, const Findings& findings) {
  const Case of{bound.claim, bound.claim.bindings, findings};
  BANDANA_ASSIGN_OR_RETURN(const NamedLine measured, LineOf(*bound.claim.of, of));
  BANDANA_ASSIGN_OR_RETURN(const NamedLine line, LineOf(bound.line, of));
  if (measured.line.x.empty()) return absl::NotFoundError(measured.name + " has no place");
  BoundLine drawn{.of = measured.name, .along = AlongOf(bound.line, of)};
  for (std::size_t i = 0; i < measured.line.x.size(); ++i) {
    drawn.x.push_back(measured.line.x[i]);
    drawn.measured.push_back(MeanOf(measured.line.y[i]));
    drawn.bound.push_back(MeanOf(line.line.y[i]).value);
  }
  if (bound.rate) {
    const double constant = drawn.measured.back().value / drawn.bound.back();
    for (double& value : drawn.bound) value *= constant;
  }
  return drawn;
}

}  // namespace bandana::lab
