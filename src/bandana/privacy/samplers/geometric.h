#pragma once

#include <cstdint>

#include "bandana/core/generators.h"
#include "bandana/privacy/samplers/rational.h"

namespace bandana {

/// Draws k >= 0 with probability exp(-k rate) (1 - exp(-rate)); rate > 2^-52. Exact, with integers only, in a
/// time that hardly depends on the rate: Canonne, Kamath and Steinke 2020, Algorithm 2, without the sign.
/// Proof: docs/proofs/discrete-noise.md. The time taken depends on the value drawn.
std::uint64_t Geometric(Rational rate, NoiseGen& gen);

}  // namespace bandana
