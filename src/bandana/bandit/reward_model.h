#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/core/generators.h"
#include "bandana/core/reward.h"

namespace bandana {

enum class RewardKind {
  kGaussian,    ///< N(mean, sd^2)
  kRademacher,  ///< +1 or -1
  kBernoulli,   ///< 1 or 0
  kUniform,     ///< mean + (1 - |mean|) V, V uniform on a grid of 2^16 points in (-1, 1)
};

/// The distribution of one reward, given its mean.
struct RewardModel {
  RewardKind kind = RewardKind::kGaussian;
  double sd = 1;  ///< the standard deviation if Gaussian; the others have no free scale
  /// Whether the mean itself varies from reward to reward, in [-1, 1], with a context that the learner does
  /// not see.
  bool mean_varies = false;

  /// Returns the means that the distribution can have. A mean outside is an error.
  Interval means() const;

  /// Returns the interval that contains all rewards; nothing for the Gaussian.
  std::optional<Interval> support() const;

  /// Returns the sub-Gaussian proxy: an s such that E exp(l (reward - mean)) <= exp(l^2 s^2 / 2) for every l
  /// and every accepted mean. If means vary, `mean` is their mean.
  double proxy() const;

  /// Draws the sum of `count` rewards. It takes one or a few draws, whatever the count, and is exact in
  /// distribution.
  double DrawSum(double mean, Count count, CoinGen& coin) const;

  /// Like DrawSum, but split by the values of a reward: for each value, how many rewards and their sum. It is
  /// one sum if a reward has more than two values.
  void DrawGroup(double mean, Count count, CoinGen& coin, std::vector<RewardSum>& sums) const;

  /// Draws one reward: the slow path against which DrawSum is tested.
  double Draw(double mean, CoinGen& coin) const;
};

}  // namespace bandana
