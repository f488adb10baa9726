#include <cmath>

#include "bandana/core/status.h"
#include "bandana/lab/exhibits/exhibits.h"
#include "bandana/lab/exhibits/p3_points.h"
#include "fmt/format.h"

/// P3, Fig. 1A: regret per agent, by epsilon and by the number of agents M.
namespace bandana::lab {
namespace {

using namespace p3;  // NOLINT(google-build-using-namespace)

constexpr char kFigure[] = "p3 Fig. 1A";
constexpr char kAgents[] = "federation.agents";
constexpr char kEpsilon[] = "privacy.epsilon";
// The regret of a round of uninformed play: the best arm's mean is in [0.7, 0.8], the others' in [0.5, 0.6].
constexpr double kUninformed = 0.2;

absl::StatusOr<Finding> FallsWithEpsilon(const Findings& findings) {
  return AtEvery(findings, kAgents, Ours(), [&](double agents) -> absl::StatusOr<Finding> {
    BANDANA_ASSIGN_OR_RETURN(const Named line, NamedAlong(findings, fmt::format("M = {}", agents), kEpsilon,
                                                          With(Ours(), kAgents, agents), kRegret));
    return Falls(line);
  });
}

absl::StatusOr<Finding> FallsWithAgents(const Findings& findings) {
  return AtEvery(findings, kEpsilon, Ours(), [&](double epsilon) -> absl::StatusOr<Finding> {
    BANDANA_ASSIGN_OR_RETURN(const Named line, NamedAlong(findings, fmt::format("epsilon = {}", epsilon),
                                                          kAgents, With(Ours(), kEpsilon, epsilon), kRegret));
    return Falls(line);
  });
}

absl::StatusOr<Finding> IsCompetitive(const Findings& findings) {
  const std::vector<double> epsilons = ValuesOf(findings, kEpsilon, Ours());
  if (epsilons.empty()) return absl::NotFoundError("the run has no private points");
  BANDANA_ASSIGN_OR_RETURN(const Named ours,
                           NamedAlong(findings, fmt::format("epsilon = {}", epsilons.back()), kAgents,
                                      With(Ours(), kEpsilon, epsilons.back()), kRegret));
  BANDANA_ASSIGN_OR_RETURN(const Named none,
                           NamedAlong(findings, "non-private", kAgents, NonPrivate(), kRegret));
  return lab::WithinFactor(ours, none, 5);
}

// Returns an agent's regret per round in the last tenth of a run, divided by that of uninformed play.
absl::StatusOr<double> ShareAtEnd(const Findings& findings, const Where& where, double agents) {
  BANDANA_ASSIGN_OR_RETURN(const CurveOverTime curve, findings.Curve(where));
  std::size_t from = 0;
  for (std::size_t i = 0; i < curve.t.size(); ++i) {
    if (curve.t[i] <= 0.9 * curve.t.back()) from = i;
  }
  const double rounds = curve.t.back() - curve.t[from];
  if (!(rounds > 0)) return absl::NotFoundError("the run has no checkpoint before the horizon");
  return (curve.mean.back() - curve.mean[from]) / rounds / agents / kUninformed;
}

absl::StatusOr<Finding> HasLearned(const Findings& findings) {
  const Where ours = With(Ours(), kEpsilon, 1.0);
  return AtEvery(findings, kAgents, ours, [&](double agents) -> absl::StatusOr<Finding> {
    BANDANA_ASSIGN_OR_RETURN(const double now, ShareAtEnd(findings, With(ours, kAgents, agents), agents));
    BANDANA_ASSIGN_OR_RETURN(const double printed,
                             ShareAtEnd(findings, With(AsPrinted(), kAgents, agents), agents));
    constexpr double kKnows = 0.01;
    constexpr double kKnowsLittle = 0.5;
    return Finding{
        now <= kKnows && printed >= kKnowsLittle,
        fmt::format("M = {}: {:.2g} % by default, {:.0f} % as printed", agents, 100 * now, 100 * printed)};
  });
}

absl::StatusOr<Finding> ReleasedIsNearlyFree(const Findings& findings) {
  const Where ours = With(Ours(), kEpsilon, 1.0);
  const Where raw = {{"privacy.model", "silo"},
                     {"privacy.calibration", "tight"},
                     {"algorithm.local", "raw"},
                     {kEpsilon, 1.0}};
  BANDANA_ASSIGN_OR_RETURN(const Named a, NamedAlong(findings, "released", kAgents, ours, kRegret));
  BANDANA_ASSIGN_OR_RETURN(const Named b, NamedAlong(findings, "raw", kAgents, raw, kRegret));
  constexpr double kMany = 20;
  return lab::WithinFactor(Part(a, kMany, INFINITY), b, 1.1);
}

}  // namespace

std::vector<PaperClaim> P3Fig1aClaims() {
  return {
      {"per-agent regret falls as epsilon grows, at every M", kFigure, true, "", FallsWithEpsilon},
      {"per-agent regret falls as M grows, at every epsilon", kFigure, true, "", FallsWithAgents},
      {"competitive at a large budget: within five times the non-private regret", kFigure, true, "",
       IsCompetitive},
      {"beyond the paper: at epsilon = 1 the default has learned (at the end it loses at most 1 % of what "
       "uninformed play does) where the algorithm as printed has not (at least 50 %)",
       kFigure, true, "", HasLearned},
      {"beyond the paper: among 20 agents or more, to act on released statistics alone costs at most 10 %",
       kFigure, true, "", ReleasedIsNearlyFree},
  };
}

}  // namespace bandana::lab
