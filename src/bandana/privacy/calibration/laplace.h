#pragma once

#include <cstdint>

#include "absl/status/statusor.h"

/// Pure epsilon-differential privacy by Laplace noise on a statistic of l1 sensitivity D. For one number, D
/// is its range: a reward in [-1, 1] has range 2. Proof: docs/proofs/laplace.md.
namespace bandana {

/// Noise of density exp(-|x|/scale)/(2 scale), and what it delivers.
struct LaplaceSetting {
  double scale;
  double stddev;
  double delivered_epsilon;  ///< rounded up
};

/// The least scale: sensitivity/epsilon.
absl::StatusOr<LaplaceSetting> TightLaplace(double epsilon, double sensitivity);

/// P2's Lap(1/epsilon) for |r| <= 1: half the range, over epsilon. That is 2 epsilon-DP, and it says so.
absl::StatusOr<LaplaceSetting> PaperLaplace(double epsilon, double range);

/// Noise on whole numbers, P(k) proportional to exp(-|k|/t) with t = numerator/denominator: what an exact
/// sampler takes.
struct DiscreteLaplaceSetting {
  std::uint64_t numerator;    ///< 1 to 2^52 - 1
  std::uint64_t denominator;  ///< 1 to 2^31
  double stddev;              ///< in units of the grid
  double delivered_epsilon;   ///< rounded up; never more than was asked
};

/// A scale t >= units/epsilon for a statistic in whole units that moves by at most `units` in l1: at most
/// 2^-31 above the least in relative terms if epsilon <= units. Rounding data to the grid is in `units`: with
/// the ends of an interval rounded outwards it is their distance.
absl::StatusOr<DiscreteLaplaceSetting> TightDiscreteLaplace(double epsilon, std::uint64_t units);

}  // namespace bandana
