#pragma once

#include <span>
#include <vector>

#include "bandana/bandit/clipping.h"
#include "bandana/bandit/optimal_design.h"
#include "bandana/core/ids.h"
#include "bandana/core/linear_algebra.h"
#include "bandana/core/reward.h"
#include "bandana/privacy/noise_law.h"

namespace bandana {

/// The error of a phase's averages, given the design and the past: all public. A coordinate's average over
/// clients is <theta, x> + reward noise + <mean xi, x> + privacy noise + clipping.
struct PhaseErrors {
  Count clients = 0;
  std::vector<NoiseLaw> privacy;  ///< of each coordinate's average; empty: none
  ClipRule rule;                  ///< and with it the reward's proxy and the clients' spread
};

/// Least squares on one phase of a design, in the span of its actions (P1, Algorithm 1, lines 17-19).
///
/// With V = sum T(x) x x' and a_x = T(x) <V^-1 v, x>, the error in a direction v of the span is
///   <estimate - theta, v> = sum_x a_x (average(x) - <theta, x>),
/// which up to clipping and privacy noise is sub-Gaussian with squared proxy
///   (proxy^2 |v|^2_(V^-1) + client_sd^2 |v|^2) / clients,
/// since sum_x a_x x = v. The privacy noise is sum_x a_x Z_x with laws that are known: Gaussian noise adds
/// its own squared proxy, Laplace noise takes Chernoff's bound. What clipping adds is bounded by ClipBound
/// (docs/proofs/clipping-width.md).
class PhaseRegression {
 public:
  /// `pulls` are the design's support in its order.
  PhaseRegression(const ActionMatrix& actions, const Design& design, std::span<const Pull> pulls);

  /// theta, up to what is orthogonal to every active action.
  Vector Estimate(std::span<const double> averages) const;

  /// Active actions that survive: x goes if <estimate, b - x> exceeds its bound for the empirically best b.
  /// The best action is lost with probability at most `level` for each b: the union is over pairs (b, best).
  struct Survivors {
    std::vector<ArmId> active;
    double widest = 0;  ///< the largest width that was compared with
    ArmId best = 0;     ///< empirically
  };
  Survivors EliminateExactly(const Vector& estimate, std::span<const ArmId> active, const PhaseErrors& errors,
                             double level) const;

  /// The same with one width for all pairs (P1's 2 W_l).
  Survivors EliminateBy(double width, const Vector& estimate, std::span<const ArmId> active) const;

 private:
  ClipWeights TypicalWeights(const ClipRule& rule, const Matrix& weights) const;

  const ActionMatrix& actions_;
  const Matrix& basis_;
  std::vector<Pull> pulls_;
  Matrix support_;       // actions of the support in the basis, one a row
  Vector counts_;        // T(x)
  Matrix gram_inverse_;  // V^-1 in the basis
};

}  // namespace bandana
