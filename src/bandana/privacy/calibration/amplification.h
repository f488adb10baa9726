#pragma once

#include "absl/status/statusor.h"
#include "bandana/core/ids.h"
#include "bandana/privacy/guarantee.h"

/// Privacy amplification by shuffling. There are n users, each of whom sends one report of an epsilon0-LDP
/// randomizer, a shuffler that hides who sent which, and a server that sees the shuffled reports. The
/// neighbours are replace-one.
///
/// V. Feldman, A. McMillan and K. Talwar, "Hiding among the clones: a simple and nearly optimal analysis of
/// privacy amplification by shuffling", FOCS 2021. Theorem 3.1 is the closed form; the numerical bound
/// computes Theorem 3.2. docs/proofs/amplification.md says when they hold, and why.
namespace bandana {

/// The numerical bound counts at most this many users. This is safe: more users never lose privacy.
inline constexpr Count kMostUsersCounted = Count{1} << 40;

/// Returns the epsilon of Theorem 3.1. Fails outside its range, epsilon0 <= ln(n/(16 ln(2/delta))).
absl::StatusOr<double> ClosedFormAmplification(double epsilon0, Count n, double delta);

/// Returns an upper bound on the delta at which n shuffled reports are (epsilon, delta)-DP. It includes
/// rounding and the tails that were cut off. It exceeds the least delta that Theorem 3.2 gives by at most
/// 1e-6 of it, 1e-14 e^epsilon or 1e-289, whichever is largest.
absl::StatusOr<double> AmplificationDelta(double epsilon0, Count n, double epsilon);

/// Returns an upper bound on the epsilon that n shuffled reports deliver at `delta`, never above epsilon0. It
/// is the upper end of a bracket of relative width 1e-9.
absl::StatusOr<double> NumericalAmplification(double epsilon0, Count n, double delta);

enum class AmplificationMethod {
  kLocal,      ///< epsilon0 = epsilon: the report alone has the guarantee, against anyone who sees it
  kNumerical,  ///< Theorem 3.2, computed numerically
};

struct LocalBudget {
  double epsilon0;        ///< the epsilon of the local randomizer
  DpGuarantee delivered;  ///< against a server that sees shuffled reports; delta is 0 with kLocal
  AmplificationMethod method;
};

/// Returns the largest epsilon0 with which n shuffled reports have the guarantee: the lower end of a bracket
/// of relative width 1e-9, and never less than epsilon.
absl::StatusOr<LocalBudget> LargestLocalEpsilon(DpGuarantee guarantee, Count n);

/// Returns P2's epsilon0 as printed, f^-1(epsilon): the largest at which Theorem 3.1's formula gives at most
/// epsilon, whether or not the theorem holds there. With few users it is below epsilon, and above
/// ln(n/(16 ln(2/delta))) the theorem promises nothing. It is the lower end of a bracket of relative width
/// 1e-9.
absl::StatusOr<double> PaperLocalEpsilon(DpGuarantee guarantee, Count n);

}  // namespace bandana
