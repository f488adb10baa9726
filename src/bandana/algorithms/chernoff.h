#pragma once

#include <span>

#include "bandana/core/ids.h"
#include "bandana/privacy/noise_law.h"

namespace bandana {

/// What clients add whose own means lie beyond their clipping intervals (docs/proofs/clipping-width.md): in
/// each of `clients` independent clients a sum of weights, `weight` in all, times max(0, Z_i - room), Z_i
/// standard normal, however the Z_i of one client hang together, beside a normal part of this client along
/// which Z_i has covariance at most `pull`.
struct ClientExcess {
  Count clients = 1;
  double weight = 0;
  double room = 0;
  double pull = 0;

  /// A bound on ln E exp(t mean over the clients), beyond what the normal part has by itself.
  double LogMoment(double t) const;
};

/// An error: the sum of independent parts, all public.
struct ErrorLaw {
  double normal = 0;        ///< squared scale of a part that exceeds u >= 0 times it no more often than a
                            ///< standard normal exceeds u
  double sub_gaussian = 0;  ///< squared proxy of another part
  ClientExcess excess;
  std::span<const double> weights;  ///< of Laplace terms
  std::span<const NoiseLaw> laws;   ///< their scales and numbers; the proxies are not looked at
};

/// A bound that the error exceeds with probability at most `level`: the exact quantile of a normal error,
/// else Chernoff's (for what is beside the normal part) at an exponent near the best; any exponent's is
/// valid. Derived in docs/proofs/clipping-width.md.
double TailBound(const ErrorLaw& error, double level);

}  // namespace bandana
