#pragma once

#include <span>

#include "bandana/core/ids.h"
#include "bandana/privacy/noise_law.h"

namespace bandana {

/// The error that clipping adds because some clients' own means lie beyond their clipping intervals (Claim 3
/// of docs/proofs/clipping-width.md). For each client it is sum_i w_i max(0, Z_i - room), where the weights
/// w_i add up to `weight` and each Z_i is standard normal. The Z_i of one client may depend on each other in
/// any way; clients are independent. A client also has a normal part in the error, and the covariance of Z_i
/// with that part is at most `pull`.
struct ClientExcess {
  Count clients = 1;
  double weight = 0;
  double room = 0;
  double pull = 0;

  /// Returns a bound on what the excess adds to ln E exp(t X), where X is the mean over the clients of the
  /// excess and the normal part together.
  double LogMoment(double t) const;
};

/// The law of an error that is a sum of independent parts. It is public.
struct ErrorLaw {
  double normal = 0;        ///< s^2 of a part Y with P(Y > u s) <= P(Z > u) for u >= 0, Z standard normal
  double sub_gaussian = 0;  ///< the squared proxy of another part
  ClientExcess excess;
  std::span<const double> weights;  ///< the factors of the Laplace terms
  std::span<const NoiseLaw> laws;   ///< the scales and numbers of the Laplace terms; proxies are ignored
};

/// Returns a bound that the error exceeds with probability at most `level`. For a normal error it is the
/// exact quantile. Otherwise it is Chernoff's bound, applied to the parts besides the normal one, at an
/// exponent near the best; the bound is valid for every exponent. Derived in docs/proofs/clipping-width.md.
double TailBound(const ErrorLaw& error, double level);

}  // namespace bandana
