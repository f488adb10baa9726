#pragma once

#include "absl/status/statusor.h"
#include "bandana/core/ids.h"
#include "bandana/privacy/guarantee.h"

/// Privacy amplification by shuffling: n users, each of whom sends one report of an epsilon0-LDP randomizer,
/// a shuffler that hides who sent which, and a server that sees the shuffled reports. Neighbours:
/// replace-one.
///
/// V. Feldman, A. McMillan and K. Talwar, "Hiding among the clones: a simple and nearly optimal analysis of
/// privacy amplification by shuffling", FOCS 2021. Theorem 3.1 is the closed form, Theorem 3.2 what the
/// numerical bound computes. When they hold, and why: docs/proofs/amplification.md.
namespace bandana {

/// Users beyond this many count as this many in the numerical bound: more users never lose privacy.
inline constexpr Count kMostUsersCounted = Count{1} << 40;

/// The epsilon of Theorem 3.1. An error outside its range, epsilon0 <= ln(n/(16 ln(2/delta))).
absl::StatusOr<double> ClosedFormAmplification(double epsilon0, Count n, double delta);

/// An upper bound on the delta at which n shuffled reports are (epsilon, delta)-DP, tails that were cut off
/// and rounding included: above the least one that Theorem 3.2 gives by at most 1e-6 of it, 1e-14 e^epsilon
/// or 1e-289, whichever is largest.
absl::StatusOr<double> AmplificationDelta(double epsilon0, Count n, double epsilon);

/// An upper bound on the epsilon that n shuffled reports deliver at `delta`, never above epsilon0: the upper
/// end of a bracket of relative width 1e-9.
absl::StatusOr<double> NumericalAmplification(double epsilon0, Count n, double delta);

enum class AmplificationMethod {
  kLocal,      ///< epsilon0 = epsilon: the report alone has the guarantee, whoever sees it
  kNumerical,  ///< Theorem 3.2, numerically
  kClosed,     ///< Theorem 3.1
};

struct LocalBudget {
  double epsilon0;        ///< what the randomizer may spend
  DpGuarantee delivered;  ///< against a server that sees shuffled reports; with kLocal delta is 0
  AmplificationMethod method;
};

/// The largest epsilon0 with which n shuffled reports have the guarantee: the lower end of a bracket of
/// relative width 1e-9, and never less than epsilon.
absl::StatusOr<LocalBudget> LargestLocalEpsilon(DpGuarantee guarantee, Count n);

/// P2's: the largest epsilon0 in the range of Theorem 3.1 at which the closed form gives the guarantee, in a
/// bracket as above, and never less than epsilon.
absl::StatusOr<LocalBudget> PaperLocalEpsilon(DpGuarantee guarantee, Count n);

}  // namespace bandana
