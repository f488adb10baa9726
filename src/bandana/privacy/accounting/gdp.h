#pragma once

#include <cmath>

#include "bandana/privacy/calibration/gaussian.h"

/// mu-Gaussian differential privacy: telling neighbours apart is at least as hard as telling N(0, 1) from
/// N(mu, 1). J. Dong, A. Roth and W. J. Su, "Gaussian differential privacy", JRSS B 84(1), 2022. A Gaussian
/// mechanism with noise multiplier m is exactly 1/m-GDP, a composition exactly sqrt(sum of mu^2)-GDP
/// (Corollary 3.3, adaptive choice of the mechanisms included). Proof: docs/proofs/accounting.md.
namespace bandana {

/// sqrt(a^2 + b^2) from above.
inline double ComposeGdp(double a, double b) { return std::hypot(a, b) * (1 + 1e-15); }
/// `count` releases, each mu-GDP.
inline double RepeatGdp(double mu, double count) { return mu * std::sqrt(count) * (1 + 1e-15); }

/// The least delta, respectively epsilon, of mu-GDP, to 1e-12 and from above. mu >= 0.
inline double GdpDelta(double epsilon, double mu) {
  return std::fmin(1, GaussianDelta(epsilon, (1 - 1e-15) / mu) * (1 + 1e-12));
}
inline double GdpEpsilon(double delta, double mu) { return GaussianEpsilon(delta, (1 - 1e-15) / mu); }

}  // namespace bandana
