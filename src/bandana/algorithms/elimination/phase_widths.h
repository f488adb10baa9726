#pragma once

#include <span>
#include <vector>

#include "bandana/algorithms/elimination/phase_errors.h"
#include "bandana/core/linear_algebra.h"
#include "bandana/core/reward.h"

namespace bandana {

/// The design of a phase, in coordinates of the span of its actions. T(x) is the number of pulls of x. In an
/// estimate in the direction v, the average of the support's action x has the factor a_x; a = weights v.
struct PhaseGeometry {
  std::vector<Pull> pulls;  ///< one per action of the support
  Matrix support;           ///< the actions of the support in the basis, one per row
  Matrix gram_inverse;      ///< V^-1, V = sum T(x) x x'
  Matrix weights;           ///< the map from v to a: a_x = T(x) <V^-1 v, x>
  Matrix root_inverse;      ///< R^-1, R R' = V / sum T(x)

  /// Returns the map from a direction to the factors of a release's numbers in an estimate. It has one row
  /// per number of the release.
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
            "the sizes of its design matrices do not match");
  }
};

/// Returns the map by which a client turns its averages into its own estimate, for a query with these bounds.
/// The report is u = M (averages - middles of the bounds) with M = R^-1 X' P. The rows of X are the support's
/// actions, and the diagonal matrix P has the shares T(x) / sum T. Since M'M <= P, |u|^2 is at most
/// sum P(x) (range(x) / 2)^2, the square of the radius. In the direction v, u adds <R^-1 v, u> to the
/// estimate.
ReportMap EstimateReport(const PhaseGeometry& geometry, std::span<const Interval> bounds);

/// Bounds on <estimate - theta, v> for directions v. Each bound fails with probability at most `level`. The
/// free parameters that make the bounds narrow are chosen from the geometry and the laws of the errors only,
/// not from the data, so every bound holds at its level. Derived in docs/proofs/clipping-width.md.
class PhaseWidths {
 public:
  PhaseWidths(const PhaseGeometry& geometry, const PhaseErrors& errors, double level);

  /// A direction is the difference of two actions, first - second. This has their rows in the support.
  struct Ends {
    static constexpr Eigen::Index kElsewhere = -1;  ///< an action outside the support
    static constexpr Eigen::Index kNothing = -2;    ///< no action: the direction is one action alone
    Eigen::Index first = kElsewhere;
    Eigen::Index second = kElsewhere;
  };

  /// Returns the widths of directions, which are given in the basis, one per row. With misspecification a
  /// width bounds the error of the difference of mean rewards; only this case uses `ends`.
  Vector Of(const Matrix& directions, std::span<const Ends> ends) const;

 private:
  const PhaseGeometry& geometry_;
  const PhaseErrors& errors_;
  double level_;
  Matrix normal_;          // quadratic form: v' normal_ v is the squared scale of the normal part
  Matrix sub_gaussian_;    // quadratic form: the squared proxy of the other sub-Gaussian part
  const Matrix& factors_;  // PhaseGeometry::factors of the release
  bool laplace_;           // whether the privacy noise has Laplace terms
  Vector bias_;            // a bound on the bias of clipping in each coordinate; empty: no bias
  double client_room_;     // k of Claim 3 in the proof; infinite if that claim is not needed
  Vector client_spread_;
};

/// Returns the intervals to which reports are clipped: those around the known bounds on the means for which
/// the width of an average pair is least. If the rule has a fixed bound, rewards need no clip or there is no
/// forecast, these are the rule's own intervals.
absl::StatusOr<std::vector<Interval>> ChooseBounds(const PhaseGeometry& geometry, const PhaseErrors& errors,
                                                   double level, const NoiseForecast& forecast);

}  // namespace bandana
