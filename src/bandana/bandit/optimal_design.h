#pragma once

#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/core/ids.h"
#include "bandana/core/linear_algebra.h"

namespace bandana {

/// The span grows until every active action is within this tolerance of it, relative to the longest action.
/// The design is for the actions projected onto the span. Then a mean <theta, x> is off by at most
/// kDesignRankTolerance * max|x| * |theta|.
inline constexpr double kDesignRankTolerance = 1e-8;

/// A distribution pi over few actions that explores all actions about equally well: x' V(pi)^-1 x <= g for
/// every active x, with V(pi) = sum_x pi(x) x x' in the span. g is at least the rank (Kiefer & Wolfowitz,
/// 1960).
struct Design {
  std::vector<ArmId> support;   ///< ascending
  std::vector<double> weights;  ///< > 0, sum 1 up to rounding, in the support's order
  /// d x rank, orthonormal columns: a basis of the span of the active actions. The columns are in order of
  /// decreasing reach, so that a Cholesky factor of basis' V basis is accurate even if the actions are badly
  /// scaled.
  Matrix basis;
  double g = 0;   ///< max over the active x of x' V(pi)^-1 x, computed from the weights alone
  int steps = 0;  ///< how often the design changed after its start

  int rank() const { return static_cast<int>(basis.cols()); }

  template <class Archive>
  void State(Archive& a) {
    a(support, weights, basis, g, steps);
    a.Check(support.size() == weights.size(), "its design does not have one weight per action");
  }
};

struct DesignParams {
  /// The search stops when g <= target * rank; in (1, 2]. Below 4/3 it may reach the bound on the support
  /// first. A smaller target gives smaller confidence widths but a larger support, over which privacy noise
  /// is spread. 1.3 is near the best compromise on spheres and on heavy-tailed sets.
  double target = 1.3;
  /// Where to start: a design of a superset of the active actions (an earlier phase's), or none. The
  /// guarantees below hold either way. It is off by default because it does not pay. If a phase removes a
  /// tenth of the actions, it saves most steps but only a third of the time, as the span, the coordinates and
  /// the last check remain. If a phase removes half, it saves nothing. And the support, over which privacy
  /// noise is spread, is 10 to 20 % larger (benchmarks/design_bench).
  const Design* warm_start = nullptr;
};

/// Returns the largest number of actions in a design of rank r: 4 r max(0, ln ln r) + 16.
int DesignSupportBound(int rank);

/// Returns a near-G-optimal design for the rows of `actions` named by `active` (a set: order and repetitions
/// do not matter). Always g <= 2 rank and |support| <= DesignSupportBound(rank), and g <= target * rank if
/// the support bound allows it. Deterministic; ties go to the smallest index. A step costs at most O(|active|
/// d). A refresh every 4 rank + 64 steps costs O(|active| rank^2). Memory is one |active| x rank copy and a
/// few numbers per action.
///
/// It starts with greedy volume (Kumar & Yildirim, 2005), then runs Frank-Wolfe with exact line search and
/// away steps (Wynn, 1970; Atwood, 1973; Todd, "Minimum-Volume Ellipsoids", 2016). If that does not reach the
/// target, it runs Fedorov's exchange (1972), for which the two guarantees are proved in the source.
///
/// Fails with an InvalidInput on the fact "actions" if the set is empty, has a non-finite entry, or has
/// only zeros (to 1e-300).
absl::StatusOr<Design> NearOptimalDesign(const ActionMatrix& actions, std::span<const ArmId> active,
                                         const DesignParams& params = {});

/// Returns a design with equal weights on every active action, without a core set. g has no bound better than
/// |active|. The span, the errors and the cost are as above.
absl::StatusOr<Design> UniformDesign(const ActionMatrix& actions, std::span<const ArmId> active);

/// Returns the design of P2, Appendix A: Frank-Wolfe from equal weights on every active action, until g <= 2
/// rank. No step takes an action out, so every active action is in the support. If equal weights are good
/// enough, they are the result.
absl::StatusOr<Design> FrankWolfeDesign(const ActionMatrix& actions, std::span<const ArmId> active);

}  // namespace bandana
