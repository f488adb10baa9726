#include "bandana/bandit/worlds/user_means.h"

#include <cmath>

#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {

std::vector<Spelling<Link>> LinkSpellings() {
  return {{"identity", Link::kIdentity, "The mean is <theta, x> itself."},
          {"logistic", Link::kLogistic, "The mean is 1 / (1 + exp(-<theta, x>)), and rewards are 0 or 1."},
          {"probit", Link::kProbit,
           "The mean is the normal distribution function at <theta, x>, and rewards are 0 or 1."},
          {"poisson", Link::kPoisson,
           "A reward is min(N, reward_bound), where N is Poisson with mean exp(<theta, x>)."}};
}

std::vector<Spelling<ParameterKind>> ParameterSpellings() {
  return {{"single", ParameterKind::kSingle, "All arms share one theta, and each arm has a context."},
          {"multi", ParameterKind::kMulti, "Each arm has a theta, and all arms share the user's context."}};
}

absl::StatusOr<MeanFunction> MeanFunctionOf(Link link, std::optional<double> reward_bound) {
  constexpr double kPoissonBound = 5;
  if (link != Link::kPoisson) return MeanFunction::Create(link, 0);
  const double bound = reward_bound.value_or(kPoissonBound);
  if (!(bound == std::floor(bound) && bound >= 1 && bound <= MeanFunction::kMostBound)) {
    return InvalidField(
        Part::kParams, "reward_bound", bound,
        fmt::format("a whole number from 1 to {} with link = \"poisson\"", MeanFunction::kMostBound));
  }
  return MeanFunction::Create(link, static_cast<Count>(bound));
}

}  // namespace bandana
