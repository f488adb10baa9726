#include "bandana/bandit/clipping.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bandana {
namespace {

constexpr double kMeanBound = 1;  // |<theta, x>|
constexpr double kSpreadsOfRoom = 3;

double NormalCdf(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

// E exp(m (Z - room)+) - 1 for a standard normal Z.
double ExcessMoment(double m, double room) {
  return std::exp(m * m / 2 - m * room) * NormalCdf(m - room) - NormalCdf(-room);
}

// Least distances from a mean to the ends of its interval, in spreads. The worst mean is at one end of [-1,
// 1].
struct Room {
  double above = std::numeric_limits<double>::infinity();
  double below = std::numeric_limits<double>::infinity();

  double LogMoment(double m) const { return std::log1p(ExcessMoment(m, above) + ExcessMoment(m, below)); }
};

// A share of every interval's room.
template <class Spread>
Room RoomFor(const ClipRule& rule, std::span<const Pull> pulls, double share, Spread spread) {
  Room room;
  for (const Pull& pull : pulls) {
    const double s = spread(pull.count);
    if (s == 0) continue;  // an average that is its mean, inside every accepted bound
    const double bound = rule.BoundsFor(pull.count).high;
    room.above = std::min(room.above, share * (bound - kMeanBound) / s);
    room.below = std::min(room.below, share * (bound + kMeanBound) / s);
  }
  return room;
}

// Any m > 0 gives a valid bound; the least is found on a grid fine enough to lose nothing that matters.
template <class Value>
void ForEachExponent(Value value) {
  for (double m = 0.01; m < 100; m *= 1.05) value(m);
}

// The factor on sum_i |a_i| spread_i, however the excesses of one client hang together.
double OneForAll(const Room& room, double log_inverse_level) {
  double least = std::numeric_limits<double>::infinity();
  ForEachExponent([&](double m) { least = std::min(least, (log_inverse_level + room.LogMoment(m)) / m); });
  return least;
}

// The factors on max_i and sum_i of |a_i| s_i, where the excesses are independent.
ClipBound Independent(const Room& room, double log_inverse_level, const ClipWeights& typical) {
  ClipBound best{.largest = std::numeric_limits<double>::infinity()};
  ForEachExponent([&](double m) {
    const ClipBound bound{.largest = log_inverse_level / m, .reward = room.LogMoment(m) / m};
    if (bound * typical < best * typical) best = bound;
  });
  return best;
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

double ClipRule::RewardSpread(Count pulls) const { return reward.sd / std::sqrt(static_cast<double>(pulls)); }

ClipWeights::ClipWeights(const ClipRule& rule, std::span<const Pull> pulls, std::span<const double> weights) {
  for (std::size_t i = 0; i < pulls.size(); ++i) {
    const double weight = std::abs(weights[i]);
    const double of_reward = weight * rule.RewardSpread(pulls[i].count);
    largest = std::max(largest, of_reward);
    reward += of_reward;
    client += weight * rule.client_sd;
    joint += weight * rule.Spread(pulls[i].count);
  }
}

ClipBound MakeClipBound(const ClipRule& rule, std::span<const Pull> pulls, Count clients, double level,
                        const ClipWeights& typical) {
  if (!rule.clips()) return {};
  const double n = static_cast<double>(clients);
  const auto spread = [&](Count count) { return rule.Spread(count); };
  const auto reward_spread = [&](Count count) { return rule.RewardSpread(count); };
  const auto client_spread = [&](Count) { return rule.client_sd; };

  ClipBound best{.joint = OneForAll(RoomFor(rule, pulls, 1, spread), std::log(1 / level) / n)};
  for (const double share : {1.0, 0.9, 0.8, 0.7, 0.6, 0.5}) {
    if ((share < 1) != (rule.client_sd > 0)) continue;
    const double part = rule.client_sd > 0 ? 2 : 1;  // of the level, for each of the two sums
    const double log_inverse_level = std::log(part / level) / n;
    ClipBound bound = Independent(RoomFor(rule, pulls, share, reward_spread), log_inverse_level, typical);
    if (rule.client_sd > 0) {
      bound.client = OneForAll(RoomFor(rule, pulls, 1 - share, client_spread), log_inverse_level);
    }
    if (bound * typical < best * typical) best = bound;
  }
  return best;
}

}  // namespace bandana
