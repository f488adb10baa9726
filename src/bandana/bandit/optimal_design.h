#pragma once

#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/core/ids.h"
#include "bandana/core/linear_algebra.h"

namespace bandana {

/// The span grows until no active action is farther from it than this times the longest. The design is then
/// for the actions projected on it, and a mean <theta, x> is off by at most kDesignRankTolerance * max|x| *
/// |theta|.
inline constexpr double kDesignRankTolerance = 1e-8;

/// A distribution pi over few actions that explores all of them about equally well:
/// x' V(pi)^-1 x <= g for every active x, with V(pi) = sum_x pi(x) x x' in the span. g is at least the rank
/// (Kiefer & Wolfowitz, 1960).
struct Design {
  std::vector<ArmId> support;   ///< ascending
  std::vector<double> weights;  ///< > 0, sum 1 to rounding, in the support's order
  /// d x rank, orthonormal columns: the span of the active actions. The columns are in order of decreasing
  /// reach, so that a Cholesky factor of basis' V basis is accurate however ill-scaled the actions are.
  Matrix basis;
  double g = 0;   ///< max over the active x of x' V(pi)^-1 x, computed from the weights alone
  int steps = 0;  ///< changes of the design after its start

  int rank() const { return static_cast<int>(basis.cols()); }

  template <class Archive>
  void State(Archive& a) {
    a(support, weights, basis, g, steps);
    a.Check(support.size() == weights.size(), "a design without its weights");
  }
};

struct DesignParams {
  /// The search stops when g <= target * rank; in (1, 2]. Below 4/3 the bound on the support can come first.
  /// A smaller target narrows the widths and widens the support, on which privacy noise is spread; 1.3 is
  /// near the best of both on spheres and on heavy-tailed sets.
  double target = 1.3;
  /// Where to start: a design of a superset of the active actions (an earlier phase's), or none. What is
  /// promised below holds either way. Off by default, since it does not pay: where a phase removes a tenth of
  /// the actions it saves most steps, but a third of the time, as the span, the coordinates and the last
  /// check remain; where it removes half, it saves nothing; and the support, on which privacy noise is
  /// spread, is 10 to 20 % larger (benchmarks/design_bench).
  const Design* warm_start = nullptr;
};

/// The most actions a design of this rank plays: 4 r max(0, ln ln r) + 16.
int DesignSupportBound(int rank);

/// A near-G-optimal design for the rows of `actions` named by `active` (a set: order and repetitions do not
/// matter). Always g <= 2 rank and |support| <= DesignSupportBound(rank), and g <= target * rank where the
/// support bound allows it. Deterministic; ties go to the smallest index. A step costs at most O(|active| d),
/// a refresh every 4 rank + 64 steps O(|active| rank^2); memory is one |active| x rank copy and a few numbers
/// an action.
///
/// Greedy volume start (Kumar & Yildirim, 2005), then Frank-Wolfe with exact line search and away steps
/// (Wynn, 1970; Atwood, 1973; Todd, "Minimum-Volume Ellipsoids", 2016); where that does not arrive, Fedorov's
/// exchange (1972), for which the two guarantees are proved in the source.
///
/// An empty set, a non-finite entry, or nothing but zeros (to 1e-300) is an InvalidInput on
/// "environment.actions".
absl::StatusOr<Design> NearOptimalDesign(const ActionMatrix& actions, std::span<const ArmId> active,
                                         const DesignParams& params = {});

/// Exploration without a core set: every active action, with equal weights. g is what comes out, without a
/// bound (up to |active|). Span, errors and cost as above.
absl::StatusOr<Design> UniformDesign(const ActionMatrix& actions, std::span<const ArmId> active);

}  // namespace bandana
