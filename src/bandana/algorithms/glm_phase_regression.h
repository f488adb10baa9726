#pragma once

#include <span>
#include <vector>

#include "bandana/algorithms/phase_regression.h"
#include "bandana/bandit/link.h"
#include "bandana/bandit/optimal_design.h"
#include "bandana/core/ids.h"
#include "bandana/core/linear_algebra.h"
#include "bandana/core/reward.h"

namespace bandana {

/// PhaseRegression for mean rewards mu(<theta, x>), |theta| <= 1 (P1, Section VII-C): each average is sent
/// through mu^-1 (ExtendedPredictor, on the means that |theta| <= 1 allows), and least squares on the results
/// estimates theta. The estimate is linear in them, so pairs of actions keep widths of their own:
///
///   <estimate - theta, v> = sum_x a_x (g_x(average(x)) - g_x(mu(<theta, x>))),  a_x as in PhaseRegression.
///
/// Each g_x is increasing with slope at most L_x around its mean, so what is random in its term is no larger,
/// in the convex order, than L_x (average(x) - mean): the linear width with weights a_x L_x. Its mean is
/// off by at most curvature times variance / 2. Both are read off the averages themselves, on an event that
/// has a tenth of the level. Proof and a comparison with the quasi-likelihood estimate of Filippi et al.
/// (NIPS 2010), whose asymptotic variance is at most 2 % less here: docs/proofs/glm-width.md.
class GlmPhaseRegression {
 public:
  /// `pulls` are the design's support in its order.
  GlmPhaseRegression(Link link, const ActionMatrix& actions, const Design& design,
                     std::span<const Pull> pulls);

  /// theta, up to what is orthogonal to every active action.
  Vector Estimate(std::span<const double> averages) const;

  /// As PhaseRegression's: the best action is lost with probability at most `level` for each b. `estimate` is
  /// of these averages. Rewards must be bounded, and clients alike: errors.rule neither clips nor has a
  /// client_sd, and nothing is misspecified.
  PhaseRegression::Survivors EliminateExactly(std::span<const double> averages, const Vector& estimate,
                                              std::span<const ArmId> active, const PhaseErrors& errors,
                                              double level) const;

 private:
  struct Coordinates {
    std::vector<NoiseLaw> laws;  // of what is random, reward and privacy together, after the transform
    Vector bias;                 // bounds on the absolute mean error after it
  };
  Coordinates Bound(std::span<const double> averages, const PhaseErrors& errors, double level) const;

  const ActionMatrix& actions_;
  std::vector<Pull> pulls_;
  std::vector<ExtendedPredictor> predictors_;
  Matrix solution_;  // d x support: what one unit in each coordinate does to the estimate
};

}  // namespace bandana
