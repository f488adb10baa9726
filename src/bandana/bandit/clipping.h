#pragma once

#include <optional>

#include "bandana/bandit/reward_model.h"
#include "bandana/core/reward.h"

namespace bandana {

/// |mean reward| of every action.
inline constexpr double kMeanBound = 1;

/// The public rule by which a client clips its average of n pulls (the average, not each reward). A bounded
/// model needs no clip: its own range is the interval. A Gaussian average is clipped:
///   auto   to +-B(n), B(n) = 1 + 3 tau(n), tau(n)^2 = reward_sd^2 / n + client_sd^2, the spread of an
///   average
///          of one client around its mean, where nothing is known of the noise
///          (PhaseRegression::ChooseBounds finds better intervals where it is). The spread of clients is in
///          it: without, the bias of clipping clients whose own mean exceeds 1 would not vanish as n grows;
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

/// E max(0, Z - room), Z standard normal: how far a clip `room` spreads beyond the mean moves the mean.
double MeanExcess(double room);

/// ln E exp(m max(0, Z - room)), m >= 0.
double LogExcessMoment(double m, double room);

}  // namespace bandana
