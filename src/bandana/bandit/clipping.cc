#include "bandana/bandit/clipping.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace bandana {
namespace {

constexpr double kSpreadsOfRoom = 3;

double NormalCdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

}  // namespace

Interval ClipRule::BoundsFor(Count pulls) const {
  if (const auto support = reward.support()) return *support;
  const double bound = fixed_bound.value_or(kMeanBound + kSpreadsOfRoom * Spread(pulls));
  return {-bound, bound};
}

double ClipRule::Spread(Count pulls) const {
  return std::sqrt(reward.sd * reward.sd / static_cast<double>(pulls) + client_sd * client_sd);
}

double ClipRule::RewardSpread(Count pulls) const { return reward.sd / std::sqrt(static_cast<double>(pulls)); }

double MeanExcess(double room) {
  const double density = std::exp(-room * room / 2) / std::sqrt(2 * std::numbers::pi);
  return std::max(0.0, density - room * NormalCdf(-room));
}

double LogExcessMoment(double m, double room) {
  return std::log1p(std::max(0.0, std::exp(m * m / 2 - m * room) * NormalCdf(m - room) - NormalCdf(-room)));
}

}  // namespace bandana
