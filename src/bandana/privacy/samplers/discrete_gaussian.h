#pragma once

#include <cstdint>

#include "bandana/core/generators.h"
#include "bandana/privacy/samplers/rational.h"

/// Draws an integer x with probability proportional to exp(-x^2/(2 s^2)). Exact, with integers only. Proofs:
/// docs/proofs/discrete-noise.md. The time taken depends on the value drawn.
///
/// Independent draws, one per coordinate, added to an integer vector of l2 sensitivity D give (D^2/(2
/// s^2))-zCDP (Canonne, Kamath and Steinke 2020, Theorem 4). The analytic Gaussian calibration does not
/// apply; it applies to the noise in docs/proofs/rounded-normal.md.
namespace bandana {

/// Draws with s = stddev; its num and den must be below 2^52. C. F. F. Karney, "Sampling exactly from the
/// normal distribution", ACM TOMS 42(1), 2016, Algorithm D with mu = 0. The law is that of Canonne, Kamath
/// and Steinke's Algorithm 3, but it is faster.
std::int64_t DiscreteGaussian(Rational stddev, NoiseGen& gen);

/// Draws with s^2 = variance; its num and den must be below 2^61.
std::int64_t DiscreteGaussianOfVariance(Rational variance, NoiseGen& gen);

namespace internal {

/// DiscreteGaussian with uniforms that are extended by `kDigitBits` at a time (1, 8 or 64). The law does not
/// depend on it. With few bits ties are common, so that tests reach the code behind them.
template <int kDigitBits>
std::int64_t DiscreteGaussianByDigits(Rational stddev, NoiseGen& gen);

}  // namespace internal
}  // namespace bandana
