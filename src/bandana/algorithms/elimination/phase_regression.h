#pragma once

#include <span>
#include <vector>

#include "bandana/algorithms/elimination/phase_errors.h"
#include "bandana/algorithms/elimination/phase_widths.h"
#include "bandana/bandit/optimal_design.h"
#include "bandana/core/ids.h"
#include "bandana/core/linear_algebra.h"
#include "bandana/core/reward.h"

namespace bandana {

/// Least squares on one phase of a design, in the span of its actions (P1, Algorithm 1, lines 17-19).
///
/// T(x) is the number of pulls of x in the phase. With V = sum T(x) x x' and a_x = T(x) <V^-1 v, x>, the
/// error in a direction v of the span is
///   <estimate - theta, v> = sum_x a_x (average(x) - <theta, x>),
/// since sum_x a_x x = v. Without clipping and privacy noise the error is sub-Gaussian (normal, if rewards
/// are normal) with squared proxy
///   kWatch  (proxy^2 |v|^2_(V^-1) + client_sd^2 |v|^2) / clients,
///   kDeal   sum_x a_x^2 (proxy^2 + client_sd^2 |x|^2) / clients(x).
/// The privacy noise is sum_x a_x Z_x, where the law of each Z_x is known. Gaussian noise adds its own
/// squared proxy; Laplace noise needs Chernoff's bound (TailBound). If clients send estimates
/// (EstimateReport), the privacy noise is sum_i (R^-1 v)_i Z_i over the entries i of the report, and the rest
/// does not change. PhaseWidths adds the effects of clipping and of misspecification
/// (docs/proofs/clipping-width.md).
class PhaseRegression {
 public:
  /// `pulls` has one entry per action of the design's support, in the same order.
  PhaseRegression(const ActionMatrix& actions, const Design& design, std::span<const Pull> pulls);

  /// Returns an estimate of theta. Its component orthogonal to all active actions is 0.
  Vector Estimate(std::span<const double> averages) const;

  /// Returns the estimate of theta from the mean of reports that clients computed with Report(bounds).
  Vector EstimateFrom(std::span<const double> reports, std::span<const Interval> bounds) const;
  ReportMap Report(std::span<const Interval> bounds) const { return EstimateReport(geometry_, bounds); }

  /// The result of an elimination.
  struct Survivors {
    std::vector<ArmId> active;  ///< the actions that survive
    double widest = 0;          ///< the largest width that a lead was compared with
    ArmId best = 0;             ///< the action that is best by the estimate
  };

  /// Eliminates each active action x for which <estimate, b - x> exceeds the width of the pair, where b is
  /// the action that is best by the estimate. The truly best action is lost with probability at most `level`
  /// for each b; the union bound is over the pairs (b, best).
  Survivors EliminateExactly(const Vector& estimate, std::span<const ArmId> active, const PhaseErrors& errors,
                             double level) const;

  /// Returns intervals for the mean rewards of these actions. Each end is wrong with probability at most
  /// `level`.
  std::vector<Interval> MeanBounds(const Vector& estimate, std::span<const ArmId> arms,
                                   const PhaseErrors& errors, double level) const;

  /// Returns the intervals to which reports are clipped in this phase. `errors` describes the phase without
  /// its privacy noise, which `forecast` tells.
  absl::StatusOr<std::vector<Interval>> ChooseBounds(const PhaseErrors& errors, double level,
                                                     const NoiseForecast& forecast) const {
    return bandana::ChooseBounds(geometry_, errors, level, forecast);
  }

  /// Eliminates as EliminateExactly does, but with one width for all pairs (P1's 2 W_l).
  Survivors EliminateBy(double width, const Vector& estimate, std::span<const ArmId> active) const;

  /// Returns whether `errors` has the shape of this phase.
  bool Fits(const PhaseErrors& errors) const;

  /// Makes an empty object, whose state must be read from an archive before it is used.
  explicit PhaseRegression(const ActionMatrix& actions) : actions_(actions) {}
  template <class Archive>
  void State(Archive& a) {
    a(basis_, geometry_);
    a.Check(basis_.rows() == actions_.cols() && basis_.cols() == geometry_.support.cols(),
            "its design does not have the dimension of the actions");
  }

 private:
  Eigen::Index SupportIndexOf(ArmId arm) const;

  const ActionMatrix& actions_;
  Matrix basis_;
  PhaseGeometry geometry_;
};

}  // namespace bandana
