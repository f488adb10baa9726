#pragma once

#include <span>
#include <vector>

#include "bandana/algorithms/phase_errors.h"
#include "bandana/core/linear_algebra.h"
#include "bandana/core/reward.h"

namespace bandana {

/// A phase's design in the span of its actions. a = weights v are the factors with which the averages of the
/// support enter an estimate in the direction v.
struct PhaseGeometry {
  std::vector<Pull> pulls;  ///< of the support
  Matrix support;           ///< its actions in the basis, one a row
  Matrix gram_inverse;      ///< V^-1, V = sum T(x) x x'
  Matrix weights;           ///< a_x = T(x) <V^-1 v, x>
  Matrix root_inverse;      ///< R^-1, R R' = V / sum T(x)

  /// One row for each number of a release: factors with which it enters an estimate, as weights are.
  const Matrix& factors(ClientReport report) const {
    return report == ClientReport::kAverages ? weights : root_inverse;
  }

  template <class Archive>
  void State(Archive& a) {
    a(pulls, support, gram_inverse, root_inverse, weights);
    const auto rows = static_cast<Eigen::Index>(pulls.size());
    const auto rank = support.cols();
    const auto square = [&](const Matrix& matrix) { return matrix.rows() == rank && matrix.cols() == rank; };
    a.Check(support.rows() == rows && weights.rows() == rows && weights.cols() == rank &&
                square(gram_inverse) && square(root_inverse),
            "a design of another shape");
  }
};

/// A client's estimate, for a query with these bounds: u = M (averages - middles) with M = R^-1 X' P, where X
/// has the support's actions for rows and P the shares T(x) / sum T. Since M'M <= P, |u|^2 is at most
/// sum P(x) (range(x) / 2)^2, the radius. What it adds to an estimate in the direction v is <R^-1 v, u>.
ReportMap EstimateReport(const PhaseGeometry& geometry, std::span<const Interval> bounds);

/// Bounds on <estimate - theta, v> for directions v, at one level each. What is chosen to make them narrow is
/// chosen from the geometry and the errors' laws alone, so every bound holds at its level. Derived in
/// docs/proofs/clipping-width.md.
class PhaseWidths {
 public:
  PhaseWidths(const PhaseGeometry& geometry, const PhaseErrors& errors, double level);

  /// Where a direction's ends, first - second, are in the support.
  struct Ends {
    static constexpr Eigen::Index kElsewhere = -1;  ///< an action outside the support
    static constexpr Eigen::Index kNothing = -2;    ///< no action: the direction is one action alone
    Eigen::Index first = kElsewhere;
    Eigen::Index second = kElsewhere;
  };

  /// For directions in the basis, one a row. With misspecification the bound is on the difference of mean
  /// rewards, for which it needs the ends.
  Vector Of(const Matrix& directions, std::span<const Ends> ends) const;

 private:
  const PhaseGeometry& geometry_;
  const PhaseErrors& errors_;
  double level_;
  Matrix normal_;          // of the direction: squared scale of the normal part,
  Matrix sub_gaussian_;    // and of the rest
  const Matrix& factors_;  // of the release
  bool laplace_;
  Vector bias_;         // of clipping, by coordinate; empty: none
  double client_room_;  // in client spreads; infinite: no excess of clients
  Vector client_spread_;
};

/// The intervals, around where the means are known to lie, for which a typical pair's bound is least. A rule
/// with a fixed bound, and rewards that need no clip, have their own.
absl::StatusOr<std::vector<Interval>> ChooseBounds(const PhaseGeometry& geometry, const PhaseErrors& errors,
                                                   double level, const NoiseForecast& forecast);

}  // namespace bandana
