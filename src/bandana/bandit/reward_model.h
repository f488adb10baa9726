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

/// The law of one reward, given its mean.
struct RewardModel {
  RewardKind kind = RewardKind::kGaussian;
  double sd = 1;  ///< of the Gaussian; the others have no free scale
  /// The mean itself varies from reward to reward, in [-1, 1], with a context that the learner does not see.
  bool mean_varies = false;

  /// Means that the law can have; a mean outside is an error.
  Interval means() const;

  /// Where rewards lie; nothing for the Gaussian.
  std::optional<Interval> support() const;

  /// s such that E exp(l (reward - mean)) <= exp(l^2 s^2 / 2) for every l and every accepted mean;
  /// `mean` is that of means where they vary.
  double proxy() const;

  /// The sum of `count` rewards, in one draw or a few whatever the count, exact in distribution.
  double DrawSum(double mean, Count count, CoinGen& coin) const;

  /// The same by the values that a reward takes: of each how many, and their sum. All in one where it takes
  /// more than two.
  void DrawCrowd(double mean, Count count, CoinGen& coin, std::vector<RewardSum>& sums) const;

  /// One reward: the slow path that DrawSum is held against.
  double Draw(double mean, CoinGen& coin) const;
};

}  // namespace bandana
