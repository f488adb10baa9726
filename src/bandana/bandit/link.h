#pragma once

#include "bandana/core/reward.h"

namespace bandana {

/// How mean rewards follow from <theta, x>, the predictor: mean = mu(<theta, x>), mu increasing.
enum class Link {
  kIdentity,
  kLogistic,  ///< mu(s) = 1 / (1 + exp(-s))
  kProbit,    ///< mu(s) = P(Z <= s), Z standard normal
  /// mu(s) = E min(N, B), N Poisson of mean exp(s). It has a parameter, B: bandit/mean_function.h alone knows
  /// it, and none of the functions below takes it (a programmer's error).
  kPoisson,
};

/// What is below is for links without a parameter. A new one must keep what is said of PredictorSlope and
/// PredictorCurvature: confidence widths rest on it.

/// mu(predictor).
double MeanOf(Link link, double predictor);

/// mu^-1(mean), for means that the link can have.
double PredictorOf(Link link, double mean);

/// The first derivative of mu^-1 > 0. Quasi-convex: over an interval it is largest at an end.
double PredictorSlope(Link link, double mean);

/// The second derivative of mu^-1. Its absolute value is quasi-convex: over an interval it is largest at an
/// end.
double PredictorCurvature(Link link, double mean);

/// mu^-1 on an interval of means, and a straight line of the same slope beyond either end: increasing, with a
/// continuous slope, and defined for averages that noise has moved anywhere.
class ExtendedPredictor {
 public:
  ExtendedPredictor(Link link, Interval means) : link_(link), means_(means) {}

  double operator()(double average) const;

  /// The largest slope, and the largest absolute curvature, over an interval of averages.
  double SteepestSlope(Interval averages) const;
  double LargestCurvature(Interval averages) const;

  const Interval& means() const { return means_; }

 private:
  Link link_;
  Interval means_;
};

}  // namespace bandana
