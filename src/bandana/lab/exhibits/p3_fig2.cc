#include "bandana/core/status.h"
#include "bandana/lab/exhibits/exhibits.h"
#include "bandana/lab/exhibits/p3_points.h"
#include "fmt/format.h"

/// P3, appendix, Fig. 2: regret by gap.
namespace bandana::lab {
namespace {

using namespace p3;  // NOLINT(google-build-using-namespace)

constexpr char kFigure[] = "p3 Fig. 2 (appendix)";
constexpr char kGap[] = "environment.gap";
constexpr char kEpsilon[] = "privacy.epsilon";

absl::StatusOr<Named> ByGap(const Findings& findings, double epsilon, const std::string& metric = kRegret) {
  return NamedAlong(findings, fmt::format("epsilon = {}", epsilon), kGap, With(Ours(), kEpsilon, epsilon),
                    metric);
}

absl::StatusOr<Finding> FallsWithGap(const Findings& findings) {
  return AtEvery(findings, kEpsilon, Ours(), [&](double epsilon) -> absl::StatusOr<Finding> {
    BANDANA_ASSIGN_OR_RETURN(const Named line, ByGap(findings, epsilon));
    return Falls(line);
  });
}

absl::StatusOr<Finding> FallsWithGapNonPrivate(const Findings& findings) {
  BANDANA_ASSIGN_OR_RETURN(const Named line,
                           NamedAlong(findings, "non-private", kGap, NonPrivate(), kRegret));
  return Falls(line);
}

// Holds if the ratio of the regret at the smallest epsilon to that at the largest falls as the gap grows.
absl::StatusOr<Finding> LessSensitive(const Findings& findings) {
  const std::vector<double> epsilons = ValuesOf(findings, kEpsilon, Ours());
  if (epsilons.size() < 2)
    return absl::NotFoundError("the run has not two values of " + std::string(kEpsilon));
  BANDANA_ASSIGN_OR_RETURN(Named least, ByGap(findings, epsilons.front()));
  BANDANA_ASSIGN_OR_RETURN(const Named most, ByGap(findings, epsilons.back()));
  for (std::size_t i = 0; i < least.line.y.size(); ++i) {
    for (std::size_t j = 0; j < least.line.y[i].size(); ++j) least.line.y[i][j] /= most.line.y[i][j];
  }
  least.name = fmt::format("regret at epsilon = {} over that at {}", epsilons.front(), epsilons.back());
  return Falls(least);
}

absl::StatusOr<Finding> LearnsSooner(const Findings& findings) {
  return AtEvery(findings, kEpsilon, Ours(), [&](double epsilon) -> absl::StatusOr<Finding> {
    BANDANA_ASSIGN_OR_RETURN(Named line, ByGap(findings, epsilon, "best_action_rate"));
    for (Sample& sample : line.line.y) {
      for (double& rate : sample) rate = 1 - rate;
    }
    return Falls(line);
  });
}

}  // namespace

std::vector<PaperClaim> P3Fig2Claims() {
  return {
      {"private: the regret decreases as the gap increases, at every epsilon", kFigure, false,
       "what a round costs before anything is known grows with the gap, and when all is known depends on "
       "the noise more than on the gap",
       FallsWithGap},
      {"non-private: the regret decreases as the gap increases", kFigure, false,
       "fewer rounds are lost, and each of them costs more, by about as much", FallsWithGapNonPrivate},
      {"the algorithm becomes less sensitive to the privacy budget as the gap increases", kFigure, false,
       "regret is the time to learn times the gap, and that time depends on epsilon alike at every gap",
       LessSensitive},
      {"beyond the paper: the best arm is missed in fewer rounds as the gap increases, at every epsilon",
       kFigure, true, "", LearnsSooner},
  };
}

}  // namespace bandana::lab
