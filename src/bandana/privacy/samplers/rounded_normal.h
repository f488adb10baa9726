#pragma once

#include <cstdint>

#include "bandana/core/generators.h"

namespace bandana {

/// floor(stddev * N) for an exact standard normal real N; 0 < stddev < 2^52. Integer arithmetic only.
///
/// C. F. F. Karney, "Sampling exactly from the normal distribution", ACM TOMS 42(1), 2016, Algorithm N.
/// For an integer x, x + floor(y) = floor(x + y): added to integers on a grid, this is a post-processing of
/// the continuous Gaussian mechanism, so the analytic calibration (calibration/gaussian.h) holds with nothing
/// lost to discretisation. Proof: docs/proofs/rounded-normal.md. The time taken depends on the value drawn.
std::int64_t RoundedNormal(std::uint64_t stddev, NoiseGen& gen);

/// The same law up to the rounding of doubles. For the lab (`sampler = fast`): floating-point noise does not
/// keep the guarantee against an adversary who knows the rounding.
std::int64_t FastRoundedNormal(std::uint64_t stddev, NoiseGen& gen);

namespace internal {

/// RoundedNormal with uniforms extended by `kDigitBits` at a time (1, 8 or 64). The law is the same for all;
/// with few bits ties are common, so that tests reach the code behind them.
template <int kDigitBits>
std::int64_t RoundedNormalByDigits(std::uint64_t stddev, NoiseGen& gen);

}  // namespace internal
}  // namespace bandana
