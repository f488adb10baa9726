#pragma once

#include <span>
#include <vector>

#include "bandana/algorithms/phase_errors.h"
#include "bandana/algorithms/phase_widths.h"
#include "bandana/bandit/optimal_design.h"
#include "bandana/core/ids.h"
#include "bandana/core/linear_algebra.h"
#include "bandana/core/reward.h"

namespace bandana {

/// Least squares on one phase of a design, in the span of its actions (P1, Algorithm 1, lines 17-19).
///
/// With V = sum T(x) x x' and a_x = T(x) <V^-1 v, x>, the error in a direction v of the span is
///   <estimate - theta, v> = sum_x a_x (average(x) - <theta, x>),
/// since sum_x a_x x = v. Without clipping and privacy noise it is sub-Gaussian (normal, if rewards are) with
/// squared proxy
///   kWatch  (proxy^2 |v|^2_(V^-1) + client_sd^2 |v|^2) / clients,
///   kDeal   sum_x a_x^2 (proxy^2 + client_sd^2 |x|^2) / clients(x).
/// The privacy noise is sum_x a_x Z_x with laws that are known: Gaussian noise adds its own squared proxy,
/// Laplace noise takes Chernoff's bound (TailBound). Where clients send their estimates (EstimateReport) it
/// is sum_i (R^-1 v)_i Z_i over their entries; all else is as it was. What clipping adds, and where
/// misspecification, is in PhaseWidths (docs/proofs/clipping-width.md).
class PhaseRegression {
 public:
  /// `pulls` are the design's support in its order.
  PhaseRegression(const ActionMatrix& actions, const Design& design, std::span<const Pull> pulls);

  /// theta, up to what is orthogonal to every active action.
  Vector Estimate(std::span<const double> averages) const;

  /// The same from the clients' mean estimate, which they made by Report(bounds).
  Vector EstimateFrom(std::span<const double> reports, std::span<const Interval> bounds) const;
  ReportMap Report(std::span<const Interval> bounds) const { return EstimateReport(geometry_, bounds); }

  /// Active actions that survive: x goes if <estimate, b - x> exceeds its bound for the empirically best b.
  /// The best action is lost with probability at most `level` for each b: the union is over pairs (b, best).
  struct Survivors {
    std::vector<ArmId> active;
    double widest = 0;  ///< the largest width that was compared with
    ArmId best = 0;     ///< empirically
  };
  Survivors EliminateExactly(const Vector& estimate, std::span<const ArmId> active, const PhaseErrors& errors,
                             double level) const;

  /// Where the mean rewards of these actions lie: each end is wrong with probability at most `level`.
  std::vector<Interval> MeanBounds(const Vector& estimate, std::span<const ArmId> arms,
                                   const PhaseErrors& errors, double level) const;

  /// Intervals to clip to in this phase, of which `errors` tells all but the noise.
  absl::StatusOr<std::vector<Interval>> ChooseBounds(const PhaseErrors& errors, double level,
                                                     const NoiseForecast& forecast) const {
    return bandana::ChooseBounds(geometry_, errors, level, forecast);
  }

  /// The same with one width for all pairs (P1's 2 W_l).
  Survivors EliminateBy(double width, const Vector& estimate, std::span<const ArmId> active) const;

  /// That these are of its phase.
  bool Fits(const PhaseErrors& errors) const;

  /// One of which nothing is known yet, to be read back.
  explicit PhaseRegression(const ActionMatrix& actions) : actions_(actions) {}
  template <class Archive>
  void State(Archive& a) {
    a(basis_, geometry_);
    a.Check(basis_.rows() == actions_.cols() && basis_.cols() == geometry_.support.cols(),
            "a design of another space");
  }

 private:
  Eigen::Index PlaceOf(ArmId arm) const;

  const ActionMatrix& actions_;
  Matrix basis_;
  PhaseGeometry geometry_;
};

}  // namespace bandana
