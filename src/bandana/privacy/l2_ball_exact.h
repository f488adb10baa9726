#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/core/generators.h"
#include "bandana/privacy/calibration/l2_ball.h"

/// The l2-ball randomizers in integer arithmetic, on the lattice of samplers/sphere.h: their privacy cost
/// there, and their sampling. Proofs: docs/proofs/l2-ball-mean.md.
namespace bandana {

struct ExactL2Ball {
  L2BallSetting setting;
  double epsilon;  ///< the setting's epsilon plus the cost of the lattice; never more than was requested
};

/// Fails if the lattice is too coarse for this epsilon, or if a cap is so small that rejection sampling would
/// take too long.
absl::StatusOr<ExactL2Ball> SetUpExactL2Ball(L2BallRandomizer randomizer, std::int64_t dimension,
                                             double epsilon, double radius);

/// A vector divided by the radius, shortened to length 1 if it is longer, in units of 2^-40.
struct L2BallAxis {
  std::vector<std::int64_t> units;
  double length;  ///< at most 1; 0 only if all units are 0

  L2BallAxis(std::span<const double> vector, double radius);
  bool zero() const;
  void Turn();  ///< negates the vector
};

/// Returns true with probability p, rounded down to a multiple of 2^-62.
bool ExactCoin(double p, NoiseGen& noise);

/// Draws uniformly on the cap around the axis (`inside`), or on the rest of the sphere. The axis must not be
/// 0. `gamma` is the height where the cap begins.
void ExactCapDirection(std::span<const std::int64_t> axis, double gamma, bool inside, std::span<double> unit,
                       NoiseGen& noise);

}  // namespace bandana
