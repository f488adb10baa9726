#pragma once

#include <cstdint>

#include "bandana/core/generators.h"
#include "bandana/privacy/samplers/rational.h"

/// Draws the number of successes in n independent trials, for every 64-bit n. Exact, with integers only. The
/// fast version is Binomial in core/distributions.h, exact up to the rounding of doubles. Proofs:
/// docs/proofs/discrete-noise.md. The time taken depends on the value drawn.
namespace bandana {

/// Draws for trials of probability 1/2. A small n is counted bit by bit. A large n takes the time of a
/// discrete Gaussian of variance (n + 1)/4, of which all but a part of order 1/n is accepted.
std::uint64_t ExactBinomial(std::uint64_t n, NoiseGen& gen);

/// Draws for trials of probability p <= 1; its den must be below 2^63. All trials compare a uniform with p at
/// once, binary digit by binary digit. Each digit takes one draw of ExactBinomial(m, gen) for the m trials
/// that are still undecided; their number halves each time.
std::uint64_t ExactBinomial(std::uint64_t n, Rational p, NoiseGen& gen);

namespace internal {

/// The two implementations of ExactBinomial(n, gen): for any n, in time n/64; and for n <= 2^60.
std::uint64_t BinomialByCounting(std::uint64_t n, NoiseGen& gen);
std::uint64_t BinomialByRejection(std::uint64_t n, NoiseGen& gen);

}  // namespace internal
}  // namespace bandana
