#pragma once

#include <optional>
#include <span>

#include "bandana/bandit/reward_model.h"
#include "bandana/core/reward.h"

namespace bandana {

/// The public rule by which a client clips its average of n pulls (the average, not each reward). A bounded model needs no
/// clip: its own range is the interval. A Gaussian average is clipped to +-B(n):
///   auto   B(n) = 1 + 3 tau(n), tau(n)^2 = reward_sd^2 / n + client_sd^2, the spread of an average of one client
///          around <theta, x>, |<theta, x>| <= 1. The spread of clients is in it: without, the bias of clipping
///          clients whose own mean exceeds 1 would not vanish as n grows;
///   fixed  B >= 1, the paper's assumption |y| <= B.
struct ClipRule {
  RewardModel reward;
  double client_sd = 0;
  std::optional<double> fixed_bound;

  Interval BoundsFor(Count pulls) const;
  double Spread(Count pulls) const;
  bool clips() const { return !reward.support().has_value(); }
};

/// How far clipping can move an average over many clients, in units of the spread: w such that, with probability at
/// least 1 - level, |sum_i a_i mean_u excess_ui| <= w sum_i |a_i| tau_i, where excess is the part of client u's
/// average i beyond its interval. `log_inverse_level_per_client` is ln(1/level)/clients. Zero if nothing is clipped.
/// Derived in docs/proofs/clipping-width.md.
double ClipExcess(const ClipRule& rule, std::span<const Pull> pulls, double log_inverse_level_per_client);

}  // namespace bandana
