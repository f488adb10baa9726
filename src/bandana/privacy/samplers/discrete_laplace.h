#pragma once

#include <cstdint>

#include "bandana/core/generators.h"
#include "bandana/privacy/samplers/rational.h"

namespace bandana {

/// Draws an integer x with probability proportional to exp(-|x|/scale); 0 < scale < 2^52. Exact, with
/// integers only: Canonne, Kamath and Steinke 2020, Algorithm 2. Added to an integer statistic of sensitivity
/// D it gives (D/scale)-DP. Proof: docs/proofs/discrete-noise.md. The time taken depends on the value drawn.
std::int64_t DiscreteLaplace(Rational scale, NoiseGen& gen);

}  // namespace bandana
