#include "bandana/lab/judge/judge.h"

#include <algorithm>
#include <cmath>
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
    return at_most ? GrowsAtMost(a, rate, of.claim.tolerance) : GrowsLike(a, rate, of.claim.tolerance);
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
  return GrowsLike(excess, rate, of.claim.tolerance);
}

// Compares the guarantee that the noise delivers with the nominal one.
absl::StatusOr<Finding> JudgeDelivery(const Case& of) {
  BANDANA_ASSIGN_OR_RETURN(const MeasuredPoint* point,
                           of.findings.ThePoint(ChoiceOf(std::get<Series>(*of.claim.of), of)));
  const Json& privacy = (*point->json)["privacy"];
  if (privacy["nominal"].is_null()) return absl::NotFoundError("the point has no nominal guarantee");
  if (privacy["delivered"].empty()) return absl::NotFoundError("nothing is delivered");
  const Json& delivered = privacy["delivered"][0];
  const auto figure = [](const Json& guarantee, const char* key) { return guarantee[key].get<double>(); };
  const bool holds = figure(delivered, "epsilon") <= figure(privacy["nominal"], "epsilon") &&
                     figure(delivered, "delta") <= figure(privacy["nominal"], "delta");
  return Finding{holds,
                 fmt::format("asked ({:.3g}, {:.3g}), delivered ({:.3g}, {:.3g})",
                             figure(privacy["nominal"], "epsilon"), figure(privacy["nominal"], "delta"),
                             figure(delivered, "epsilon"), figure(delivered, "delta"))};
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
  return Finding{holds, evidence};
}

absl::StatusOr<Finding> JudgeCase(const Case& of) {
  switch (of.claim.is) {
    case ClaimKind::kFalls:
    case ClaimKind::kRises:
      return JudgeTrend(of);
    case ClaimKind::kGrows:
      return JudgeGrowth(of);
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

absl::StatusOr<Finding> JudgeAll(const PaperClaim& claim, const Findings& findings) {
  BANDANA_ASSIGN_OR_RETURN(const std::vector<Case> cases, CasesOf(claim, findings));
  Finding all{true, ""};
  for (const Case& each : cases) {
    BANDANA_ASSIGN_OR_RETURN(const Finding one, JudgeCase(each));
    all.holds = all.holds && one.holds;
    if (!all.evidence.empty()) all.evidence += "; ";
    if (cases.size() > 1 && claim.is == ClaimKind::kInequality) all.evidence += CaseInWords(each) + ": ";
    all.evidence += one.evidence;
    if (cases.size() > 1 && !one.holds) all.evidence += " (not so)";
  }
  if (claim.negated) all.holds = !all.holds;
  return all;
}

}  // namespace

Verdict Judge(const PaperClaim& claim, const Findings& findings) {
  Verdict verdict{.claim = claim.says, .paper = claim.paper, .expected = claim.expected};
  const absl::StatusOr<Finding> finding = JudgeAll(claim, findings);
  if (!finding.ok()) {
    verdict.judged = false;
    verdict.evidence = "cannot be judged: " + std::string(finding.status().message());
    return verdict;
  }
  verdict.holds = finding->holds;
  verdict.evidence = finding->evidence;
  if (!claim.expected) verdict.evidence += ". Not expected to hold: " + claim.reason;
  return verdict;
}

}  // namespace bandana::lab
