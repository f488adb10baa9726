#pragma once

#include "bandana/core/reward.h"

namespace bandana {

/// How the mean reward depends on the predictor <theta, x>: mean = mu(<theta, x>), mu increasing.
enum class Link {
  kIdentity,
  kLogistic,  ///< mu(s) = 1 / (1 + exp(-s))
  kProbit,    ///< mu(s) = P(Z <= s), Z standard normal
  /// mu(s) = E min(N, B), N Poisson of mean exp(s). It has a parameter, B, which only bandit/mean_function.h
  /// knows. Calling a function below with it is a programmer error.
  kPoisson,
};

/// The functions below are for links without a parameter. A new link must keep the properties of
/// PredictorSlope and PredictorCurvature, because confidence widths rest on them.

/// Returns mu(predictor).
double MeanOf(Link link, double predictor);

/// Returns mu^-1(mean). The link must be able to have this mean.
double PredictorOf(Link link, double mean);

/// Returns the first derivative of mu^-1, which is > 0. It is quasi-convex: over an interval it is largest at
/// an end.
double PredictorSlope(Link link, double mean);

/// Returns the second derivative of mu^-1. Its absolute value is quasi-convex: over an interval it is largest
/// at an end.
double PredictorCurvature(Link link, double mean);

/// mu^-1 on an interval of means, continued beyond each end by a straight line of the same slope. It is
/// increasing, has a continuous slope, and is defined for averages that noise has moved anywhere.
class ExtendedPredictor {
 public:
  ExtendedPredictor(Link link, Interval means) : link_(link), means_(means) {}

  double operator()(double average) const;

  /// Return the largest slope, and the largest absolute curvature, over an interval of averages.
  double SteepestSlope(Interval averages) const;
  double LargestCurvature(Interval averages) const;

  const Interval& means() const { return means_; }

 private:
  Link link_;
  Interval means_;
};

}  // namespace bandana
