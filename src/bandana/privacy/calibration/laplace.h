#pragma once

#include <cstdint>

#include "absl/status/statusor.h"

/// Pure epsilon-differential privacy by Laplace noise on a statistic of l1 sensitivity D. For a single number
/// D is its range: a reward in [-1, 1] has range 2. Proof: docs/proofs/laplace.md.
namespace bandana {

/// Noise of density exp(-|x|/scale)/(2 scale), and the guarantee that it delivers.
struct LaplaceSetting {
  double scale;
  double stddev;
  double delivered_epsilon;  ///< rounded up
};

/// Returns the least scale: sensitivity/epsilon.
absl::StatusOr<LaplaceSetting> TightLaplace(double epsilon, double sensitivity);

/// Returns P2's Lap(1/epsilon) for |r| <= 1, in which the scale is half the range divided by epsilon. This is
/// 2 epsilon-DP, and `delivered_epsilon` says so.
absl::StatusOr<LaplaceSetting> PaperLaplace(double epsilon, double range);

/// Noise on the integers: P(k) is proportional to exp(-|k|/t) with t = numerator/denominator. An exact
/// sampler needs this form.
struct DiscreteLaplaceSetting {
  std::uint64_t numerator;    ///< 1 to 2^52 - 1
  std::uint64_t denominator;  ///< 1 to 2^31
  double stddev;              ///< in grid units
  double delivered_epsilon;   ///< rounded up; never more than was requested
};

/// Returns a scale t >= units/epsilon for an integer statistic that moves by at most `units` in l1. It
/// exceeds the least scale by at most a relative 2^-31 if epsilon <= units. `units` must include the rounding
/// of data to the grid: with the ends of an interval rounded outwards it is their distance.
absl::StatusOr<DiscreteLaplaceSetting> TightDiscreteLaplace(double epsilon, std::uint64_t units);

}  // namespace bandana
