#include "bandana/algorithms/thompson_sampling.h"

#include <cmath>

#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {

absl::StatusOr<ThompsonSampling> ThompsonSampling::Create(const ThompsonSamplingParams& params,
                                                          RegressionReporter reporter) {
  BANDANA_RETURN_IF_ERROR(UserRegression::Check(params.regression));
  if (!(params.spread >= 0 && std::isfinite(params.spread))) {
    return InvalidOption("algorithm.spread", fmt::format("{}", params.spread), "a finite number >= 0");
  }
  return ThompsonSampling(params, std::move(reporter));
}

// With A = L L', L'^-1 z has the covariance A^-1.
void ThompsonSampling::Draw(CoinGen& coin, std::vector<double>& thetas) const {
  const std::span<const double> means = policy().thetas();
  const Eigen::Index d = policy().frame().dimension;
  thetas.resize(means.size());
  for (double& each : thetas) each = StandardNormal(coin);
  for (Count slot = 0; slot < policy().frame().slots(); ++slot) {
    Eigen::Map<Vector> theta(thetas.data() + slot * d, d);
    model().factor(slot).triangularView<Eigen::Lower>().transpose().solveInPlace(theta);
    theta =
        Eigen::Map<const Vector>(means.data() + slot * d, d) + params_.spread * params_.reward_proxy * theta;
  }
}

}  // namespace bandana
