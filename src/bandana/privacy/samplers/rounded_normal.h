#pragma once

#include <cstdint>

#include "bandana/core/generators.h"

namespace bandana {

/// Draws floor(stddev * N) for an exact standard normal real N; 0 < stddev < 2^52. Uses integer arithmetic
/// only.
///
/// C. F. F. Karney, "Sampling exactly from the normal distribution", ACM TOMS 42(1), 2016, Algorithm N. For
/// an integer x, x + floor(y) = floor(x + y). So, added to integers on a grid, this is a post-processing of
/// the continuous Gaussian mechanism, and the analytic calibration (calibration/gaussian.h) holds with no
/// loss by discretisation. Proof: docs/proofs/rounded-normal.md. The time taken depends on the value drawn.
std::int64_t RoundedNormal(std::uint64_t stddev, NoiseGen& gen);

/// Draws from this law up to the rounding of doubles. It is for the lab (`sampler = fast`): floating-point
/// noise does not keep the guarantee against an adversary who knows the rounding.
std::int64_t FastRoundedNormal(std::uint64_t stddev, NoiseGen& gen);

namespace internal {

/// RoundedNormal with uniforms that are extended by `kDigitBits` at a time (1, 8 or 64). The law does not
/// depend on it. With few bits ties are common, so that tests reach the code behind them.
template <int kDigitBits>
std::int64_t RoundedNormalByDigits(std::uint64_t stddev, NoiseGen& gen);

}  // namespace internal
}  // namespace bandana
