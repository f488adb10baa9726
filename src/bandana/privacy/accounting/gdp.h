#pragma once

#include <cmath>

#include "bandana/privacy/calibration/gaussian.h"

/// mu-Gaussian differential privacy (GDP): to tell neighbours apart is at least as hard as to tell N(0, 1)
/// from N(mu, 1). J. Dong, A. Roth and W. J. Su, "Gaussian differential privacy", JRSS B 84(1), 2022. A
/// Gaussian mechanism with noise multiplier m is exactly 1/m-GDP. A composition is exactly sqrt(sum of
/// mu^2)-GDP (Corollary 3.3, also if the mechanisms are chosen adaptively). Proof: docs/proofs/accounting.md.
namespace bandana {

/// Returns sqrt(a^2 + b^2), rounded up.
inline double ComposeGdp(double a, double b) { return std::hypot(a, b) * (1 + 1e-15); }
/// Returns the mu of `count` releases, each mu-GDP.
inline double RepeatGdp(double mu, double count) { return mu * std::sqrt(count) * (1 + 1e-15); }

/// Return the least delta, or the least epsilon, of mu-GDP: an upper bound with a relative error of 1e-12. mu
/// >= 0.
inline double GdpDelta(double epsilon, double mu) {
  return std::fmin(1, GaussianDelta(epsilon, (1 - 1e-15) / mu) * (1 + 1e-12));
}
inline double GdpEpsilon(double delta, double mu) { return GaussianEpsilon(delta, (1 - 1e-15) / mu); }

}  // namespace bandana
