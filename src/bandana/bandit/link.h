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

/// The link of the mean over clients who differ: mu_s(p) = E mu(p + s Z), Z standard normal, where s is the
/// standard deviation of <theta_u, x> over the clients u. With s = 0 it is mu. It is a link with the same
/// properties (docs/proofs/glm-width.md, Clients that differ).
class SpreadLink {
 public:
  /// kIdentity, kLogistic with a spread of at most kMostSpread, or kProbit. A link alone has no spread.
  SpreadLink(Link link, double spread = 0);  // NOLINT(google-explicit-constructor)
  static constexpr double kMostSpread = 1;   ///< up to here the integrals below are exact to 1e-12

  double MeanOf(double predictor) const;
  double PredictorOf(double mean) const;
  double PredictorSlope(double mean) const;
  double PredictorCurvature(double mean) const;

 private:
  // The mean over clients of mu and of its first two derivatives.
  struct Averages {
    double mean = 0;
    double slope = 0;
    double curvature = 0;
  };
  Averages LogisticAt(double predictor) const;
  Link link_;
  double spread_;
};

/// Returns the largest slope of mu.
double SteepestMean(Link link);

/// The inverse of a link on an interval of means, continued beyond each end by a straight line of the same
/// slope. It is increasing, has a continuous slope, and is defined for averages that noise has moved
/// anywhere.
class ExtendedPredictor {
 public:
  ExtendedPredictor(SpreadLink link, Interval means) : link_(link), means_(means) {}

  double operator()(double average) const;

  /// Return the largest slope, and the largest absolute curvature, over an interval of averages.
  double SteepestSlope(Interval averages) const;
  double LargestCurvature(Interval averages) const;

  const Interval& means() const { return means_; }

 private:
  SpreadLink link_;
  Interval means_;
};

}  // namespace bandana
