#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/core/generators.h"
#include "bandana/privacy/calibration/l2_ball.h"

/// The l2-ball randomizers in integers: what they cost on the lattice of samplers/sphere.h, and how they are
/// drawn there. Proofs: docs/proofs/l2-ball-mean.md.
namespace bandana {

struct ExactL2Ball {
  L2BallSetting setting;
  double epsilon;  ///< the setting's, and what drawing on a lattice costs; never more than was asked
};

/// Refuses what the lattice is too coarse for, and caps that take too long to hit by chance.
absl::StatusOr<ExactL2Ball> SetUpExactL2Ball(L2BallRandomizer randomizer, std::int64_t dimension,
                                             double epsilon, double radius);

/// A vector over the radius, shortened to length 1, in units of 2^-40.
struct L2BallAxis {
  std::vector<std::int64_t> units;
  double length;  ///< at most 1; 0 only if all units are

  L2BallAxis(std::span<const double> vector, double radius);
  bool zero() const;
  void Turn();  ///< round
};

/// With probability p, not rounded up.
bool ExactCoin(double p, NoiseGen& noise);

/// Uniform on the setting's cap around the axis, which is not 0, or on the rest of the sphere.
void ExactCapDirection(std::span<const std::int64_t> axis, double gamma, bool inside, std::span<double> unit,
                       NoiseGen& noise);

}  // namespace bandana
