#pragma once

#include <span>
#include <vector>

#include "bandana/algorithms/elimination/phase_regression.h"
#include "bandana/bandit/link.h"
#include "bandana/bandit/optimal_design.h"
#include "bandana/core/ids.h"
#include "bandana/core/linear_algebra.h"
#include "bandana/core/reward.h"

namespace bandana {

/// PhaseRegression for mean rewards mu(<theta, x>), |theta| <= 1, where mu is the link (P1, Section VII-C).
/// Each average goes through g_x, which is mu^-1 on the means that |theta| <= 1 allows and a straight line
/// outside (ExtendedPredictor). Least squares on the results estimates theta. The estimate is linear in them,
/// so each pair of actions still has its own width. For a direction v,
///
///   <estimate - theta, v> = sum_x a_x (g_x(average(x)) - g_x(mu(<theta, x>))),  a_x as in PhaseRegression.
///
/// Each g_x is increasing with slope at most L_x around its mean. So the random part of its term is at most
/// L_x (average(x) - mean) in the convex order, and the linear width with weights a_x L_x covers it. The mean
/// of the term is off by at most curvature times variance / 2. Bounds on the slope and the curvature are
/// computed from the averages. They hold on an event that may fail with a tenth of the level.
///
/// If clients differ, the mean over clients has another link, which is known (SpreadLink) and takes the place
/// of mu. Clients who watch a whole phase move all averages together; this part of the error has a bound of
/// its own.
///
/// docs/proofs/glm-width.md has the proof. It also compares this estimate with the quasi-likelihood estimate
/// of Filippi et al. (NIPS 2010), whose asymptotic variance is at most 2 % less here.
class GlmPhaseRegression {
 public:
  /// `pulls` has one entry per action of the design's support, in the same order. A client's own parameter is
  /// theta + N(0, client_sd^2 I).
  GlmPhaseRegression(Link link, double client_sd, const ActionMatrix& actions, const Design& design,
                     std::span<const Pull> pulls);

  /// Returns an estimate of theta. Its component orthogonal to all active actions is 0.
  Vector Estimate(std::span<const double> averages) const;

  /// Returns the active actions that survive, as PhaseRegression::EliminateExactly does: the best action is
  /// lost with probability at most `level` for each rival. `estimate` must be Estimate(averages). Rewards
  /// must be bounded: `errors.rule` does not clip. Its client_sd is that of the constructor, and
  /// errors.misspecification is 0.
  PhaseRegression::Survivors EliminateExactly(std::span<const double> averages, const Vector& estimate,
                                              std::span<const ArmId> active, const PhaseErrors& errors,
                                              double level) const;

 private:
  struct Coordinates {
    std::vector<NoiseLaw> laws;  // of reward noise and privacy noise together, after g_x
    Vector bias;                 // bounds on the absolute value of the mean error after g_x
    double client_slope = 0;     // a bound on the slope of g_x(mu), as a function of a client's predictor
  };
  Coordinates Bound(std::span<const double> averages, const PhaseErrors& errors, double level) const;

  const ActionMatrix& actions_;
  Link link_;
  double client_sd_;
  std::vector<Pull> pulls_;
  Vector norms_;  // |x| for each action of the support
  std::vector<ExtendedPredictor> predictors_;
  Matrix solution_;  // d x support; column i is the estimate from the i-th unit vector
};

}  // namespace bandana
