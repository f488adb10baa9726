#include "bandana/algorithms/users/thompson_sampling.h"

#include <cmath>
#include <utility>

#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {

absl::StatusOr<ThompsonSampling> ThompsonSampling::Create(const ThompsonSamplingRules& rules,
                                                          RegressionReporter reporter) {
  BANDANA_RETURN_IF_ERROR(UserRegression::Check(rules.regression));
  if (!(rules.spread >= 0 && std::isfinite(rules.spread))) {
    return InvalidField(Part::kParams, "spread", fmt::format("{}", rules.spread), "a finite number >= 0");
  }
  return ThompsonSampling(rules, std::move(reporter));
}

// If A = L L', then L'^-1 z has the covariance A^-1.
void ThompsonSampling::Draw(CoinGen& coin, std::vector<double>& thetas) const {
  const std::span<const double> means = policy().thetas();
  const Eigen::Index d = policy().shape().dimension;
  thetas.resize(means.size());
  for (double& each : thetas) each = StandardNormal(coin);
  for (Count slot = 0; slot < policy().shape().slots(); ++slot) {
    Eigen::Map<Vector> theta(thetas.data() + slot * d, d);
    model().factor(slot).triangularView<Eigen::Lower>().transpose().solveInPlace(theta);
    theta =
        Eigen::Map<const Vector>(means.data() + slot * d, d) + rules_.spread * rules_.reward_proxy * theta;
  }
}

}  // namespace bandana
