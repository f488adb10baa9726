#pragma once

#include <optional>

#include "bandana/bandit/reward_model.h"
#include "bandana/core/reward.h"

namespace bandana {

/// The bound on |mean reward| of every action.
inline constexpr double kMeanBound = 1;

/// The public rule by which a client clips its average of n pulls (the average, not each reward). A bounded
/// model needs no clip: its own range is the interval. A Gaussian average is clipped in one of two ways:
///   auto   to +-B(n), B(n) = 1 + 3 tau(n), tau(n)^2 = reward_sd^2 / n + client_sd^2. tau(n) is the standard
///          deviation of one client's average.
///          This rule serves if nothing is known about the privacy noise; if the noise is known,
///          PhaseRegression::ChooseBounds finds better intervals. tau includes the spread between clients.
///          Without it, the bias from clipping clients whose own mean exceeds 1 would not vanish as n grows.
///   fixed  to +-B, B >= 1, the paper's assumption |y| <= B.
struct ClipRule {
  RewardModel reward;
  double client_sd = 0;
  std::optional<double> fixed_bound;

  Interval BoundsFor(Count pulls) const;
  double Spread(Count pulls) const;
  double RewardSpread(Count pulls) const;
  bool clips() const { return !reward.support().has_value(); }
};

/// Returns E max(0, Z - room), Z standard normal: how much the mean moves, in standard deviations, if values
/// are clipped `room` standard deviations above the mean.
double MeanExcess(double room);

/// Returns ln E exp(m max(0, Z - room)), m >= 0.
double LogExcessMoment(double m, double room);

}  // namespace bandana
