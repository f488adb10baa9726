#include "bandana/bandit/reward_model.h"

#include <cmath>
#include <cstdint>

#include "bandana/core/distributions.h"
#include "bandana/core/infinity.h"

namespace bandana {
namespace {

// A uniform V is a sum of 16 independent signs, V = sum_j s_j 2^-j, on the grid -1 + (2 i + 1) 2^-16. So the
// sum of n of them takes 16 binomial draws. Its sub-Gaussian proxy is its variance, sum_j 4^-j < 1/3, because
// a sign's proxy is 1.
constexpr int kUniformBits = 16;

double UniformSum(Count count, CoinGen& coin) {
  double sum = 0;
  double step = 0.5;
  for (int bit = 0; bit < kUniformBits; ++bit, step /= 2) {
    sum += step * static_cast<double>(2 * Binomial(count, 0.5, coin) - count);
  }
  return sum;
}

double UniformOne(CoinGen& coin) {
  constexpr double kGrid = 1 << kUniformBits;
  return (2.0 * static_cast<double>(coin() >> (64 - kUniformBits)) + 1.0) / kGrid - 1.0;
}

}  // namespace

Interval RewardModel::means() const { return support().value_or(Interval{-kInfinity, kInfinity}); }

std::optional<Interval> RewardModel::support() const {
  switch (kind) {
    case RewardKind::kGaussian:
      return std::nullopt;
    case RewardKind::kBernoulli:
      return Interval{0, 1};
    case RewardKind::kRademacher:
    case RewardKind::kUniform:
      break;
  }
  return Interval{-1, 1};
}

double RewardModel::proxy() const {
  switch (kind) {
    case RewardKind::kGaussian:
      return mean_varies ? std::hypot(sd, 1) : sd;  // the proxy of the mean itself is at most 1, by Hoeffding
    case RewardKind::kRademacher:
      return 1;  // half the range, by Hoeffding
    case RewardKind::kBernoulli:
      return 0.5;
    case RewardKind::kUniform:
      break;
  }
  return mean_varies ? 1 : std::sqrt(1.0 / 3.0);
}

double RewardModel::DrawSum(double mean, Count count, CoinGen& coin) const {
  const double n = static_cast<double>(count);
  switch (kind) {
    case RewardKind::kGaussian:
      return n * mean + std::sqrt(n) * sd * StandardNormal(coin);
    case RewardKind::kRademacher:
      return static_cast<double>(2 * Binomial(count, (1 + mean) / 2, coin) - count);
    case RewardKind::kBernoulli:
      return static_cast<double>(Binomial(count, mean, coin));
    case RewardKind::kUniform:
      break;
  }
  return n * mean + (1 - std::abs(mean)) * UniformSum(count, coin);
}

void RewardModel::DrawGroup(double mean, Count count, CoinGen& coin, std::vector<RewardSum>& sums) const {
  const std::optional<Interval> ends = support();
  if (!ends.has_value() || kind == RewardKind::kUniform) {
    sums.assign({{count, DrawSum(mean, count, coin)}});
    return;
  }
  const Count high = Binomial(count, (mean - ends->low) / (ends->high - ends->low), coin);
  const Count low = count - high;
  sums.assign({{low, ends->low * static_cast<double>(low)}, {high, ends->high * static_cast<double>(high)}});
}

double RewardModel::Draw(double mean, CoinGen& coin) const {
  switch (kind) {
    case RewardKind::kGaussian:
      return mean + sd * StandardNormal(coin);
    case RewardKind::kRademacher:
      return UniformUnit(coin) < (1 + mean) / 2 ? 1 : -1;
    case RewardKind::kBernoulli:
      return UniformUnit(coin) < mean ? 1 : 0;
    case RewardKind::kUniform:
      break;
  }
  return mean + (1 - std::abs(mean)) * UniformOne(coin);
}

}  // namespace bandana
