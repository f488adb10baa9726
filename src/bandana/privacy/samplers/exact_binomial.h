#pragma once

#include <cstdint>

#include "bandana/core/generators.h"
#include "bandana/privacy/samplers/rational.h"

/// The number of successes in n independent trials, for every 64-bit n. Exact, in integers; Binomial of
/// core/distributions.h is the fast path, exact up to the rounding of doubles.
/// Proofs: docs/proofs/discrete-noise.md. The time taken depends on the value drawn.
namespace bandana {

/// Trials of probability 1/2. Few are counted bit by bit. Many cost as much as a discrete Gaussian of
/// variance (n + 1)/4, of which all but a part of order 1/n is accepted.
std::uint64_t ExactBinomial(std::uint64_t n, NoiseGen& gen);

/// Trials of probability p <= 1, whose den is below 2^63. All trials compare a uniform with p by binary
/// digits at once: a draw of ExactBinomial(m, gen) a digit for the m still undecided, who halve each time.
std::uint64_t ExactBinomial(std::uint64_t n, Rational p, NoiseGen& gen);

namespace internal {

/// The two ways to ExactBinomial(n, gen): for any n, in time n/64, and for n <= 2^60.
std::uint64_t BinomialByCounting(std::uint64_t n, NoiseGen& gen);
std::uint64_t BinomialByRejection(std::uint64_t n, NoiseGen& gen);

}  // namespace internal
}  // namespace bandana
