#include "bandana/bandit/clipping.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bandana {
namespace {

constexpr double kMeanBound = 1;       // |<theta, x>|
constexpr double kSpreadsOfRoom = 3;

double NormalCdf(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

// E exp(m (Z - room)+) - 1 for a standard normal Z.
double ExcessMoment(double m, double room) {
  return std::exp(m * m / 2 - m * room) * NormalCdf(m - room) - NormalCdf(-room);
}

}  // namespace

Interval ClipRule::BoundsFor(Count pulls) const {
  if (const auto support = reward.support()) return *support;
  const double bound = fixed_bound.value_or(kMeanBound + kSpreadsOfRoom * Spread(pulls));
  return {-bound, bound};
}

double ClipRule::Spread(Count pulls) const {
  return std::sqrt(reward.sd * reward.sd / static_cast<double>(pulls) + client_sd * client_sd);
}

double ClipExcess(const ClipRule& rule, std::span<const Pull> pulls, double log_inverse_level_per_client) {
  if (!rule.clips()) return 0;
  // Least room above the largest mean and below it, in spreads: the worst mean is at one end of [-1, 1].
  double above = std::numeric_limits<double>::infinity();
  double below = above;
  for (const Pull& pull : pulls) {
    const double bound = rule.BoundsFor(pull.count).high;
    const double spread = rule.Spread(pull.count);
    if (spread == 0) continue;  // an average that is its mean, inside every accepted bound
    above = std::min(above, (bound - kMeanBound) / spread);
    below = std::min(below, (bound + kMeanBound) / spread);
  }
  // Any m > 0 gives a valid bound; the least is found on a grid fine enough to lose nothing that matters.
  double least = std::numeric_limits<double>::infinity();
  for (double m = 0.01; m < 100; m *= 1.05) {
    const double moment = 1 + ExcessMoment(m, above) + ExcessMoment(m, below);
    least = std::min(least, (log_inverse_level_per_client + std::log(moment)) / m);
  }
  return least;
}

}  // namespace bandana
