#pragma once

#include <optional>
#include <span>

#include "bandana/bandit/reward_model.h"
#include "bandana/core/reward.h"

namespace bandana {

/// The public rule by which a client clips its average of n pulls (the average, not each reward). A bounded
/// model needs no clip: its own range is the interval. A Gaussian average is clipped to +-B(n):
///   auto   B(n) = 1 + 3 tau(n), tau(n)^2 = reward_sd^2 / n + client_sd^2, the spread of an average of one
///   client
///          around <theta, x>, |<theta, x>| <= 1. The spread of clients is in it: without, the bias of
///          clipping clients whose own mean exceeds 1 would not vanish as n grows;
///   fixed  B >= 1, the paper's assumption |y| <= B.
struct ClipRule {
  RewardModel reward;
  double client_sd = 0;
  std::optional<double> fixed_bound;

  Interval BoundsFor(Count pulls) const;
  double Spread(Count pulls) const;
  double RewardSpread(Count pulls) const;
  bool clips() const { return !reward.support().has_value(); }
};

/// A bound on how far clipping moves sum_i a_i average_i, where average_i is over the clients of a phase.
/// With s_i = reward_sd / sqrt(n_i) and tau_i = ClipRule::Spread, with probability at least 1 - level, by no
/// more than
///   largest max_i |a_i| s_i + reward sum_i |a_i| s_i + client client_sd sum_i |a_i| + joint sum_i |a_i|
///   tau_i.
/// Derived in docs/proofs/clipping-width.md.
struct ClipBound {
  double largest = 0;
  double reward = 0;
  double client = 0;
  double joint = 0;
};

/// What a bound is asked about: the four quantities above for some a, but for their factors.
struct ClipWeights {
  double largest = 0;
  double reward = 0;
  double client = 0;
  double joint = 0;

  ClipWeights(const ClipRule& rule, std::span<const Pull> pulls, std::span<const double> weights);
  ClipWeights() = default;
};

inline double operator*(const ClipBound& bound, const ClipWeights& weights) {
  return bound.largest * weights.largest + bound.reward * weights.reward + bound.client * weights.client +
         bound.joint * weights.joint;
}

/// Of several valid bounds, the one that is least for `typical`, which must not depend on the phase's data.
/// All zero if nothing is clipped.
ClipBound MakeClipBound(const ClipRule& rule, std::span<const Pull> pulls, Count clients, double level,
                        const ClipWeights& typical);

}  // namespace bandana
