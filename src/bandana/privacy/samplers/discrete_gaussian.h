#pragma once

#include <cstdint>

#include "bandana/core/generators.h"
#include "bandana/privacy/samplers/rational.h"

/// x with probability proportional to exp(-x^2/(2 s^2)), over all integers. Exact, in integers.
/// Proofs: docs/proofs/discrete-noise.md. The time taken depends on the value drawn.
///
/// Independent draws, one a coordinate, added to an integer vector of l2 sensitivity D give
/// (D^2/(2 s^2))-zCDP (Canonne, Kamath and Steinke 2020, Theorem 4). The analytic Gaussian calibration does
/// not apply: see docs/proofs/rounded-normal.md for the noise to which it does.
namespace bandana {

/// s = stddev; num and den of it below 2^52. C. F. F. Karney, "Sampling exactly from the normal
/// distribution", ACM TOMS 42(1), 2016, Algorithm D with mu = 0: the law of Canonne, Kamath and Steinke's
/// Algorithm 3, faster.
std::int64_t DiscreteGaussian(Rational stddev, NoiseGen& gen);

/// s^2 = variance; num and den of it below 2^61.
std::int64_t DiscreteGaussianOfVariance(Rational variance, NoiseGen& gen);

namespace internal {

/// DiscreteGaussian with uniforms extended by `kDigitBits` at a time (1, 8 or 64). The law is the same for
/// all; with few bits ties are common, so that tests reach the code behind them.
template <int kDigitBits>
std::int64_t DiscreteGaussianByDigits(Rational stddev, NoiseGen& gen);

}  // namespace internal
}  // namespace bandana
