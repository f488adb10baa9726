#pragma once

#include <cstdint>

#include "absl/status/statusor.h"

/// Pure epsilon-local privacy for a vector x in an l2 ball, unbiased. A coin first turns x into a unit vector
/// u: x/|x| with probability 1/2 + |x|/(2 radius), else -x/|x|. With probability p the output is uniform on
/// the cap {v : <u, v> >= gamma} of the sphere, else uniform on the rest of the sphere. Its length is the one
/// that makes it unbiased. Proof: docs/proofs/l2-ball.md.
///
/// - Duchi: gamma = 0. J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally
///   private estimation", JASA 113, 2018.
/// - PrivUnit: gamma that minimises the variance. A. Bhowmick, J. Duchi, J. Freudiger, G. Kapoor, R. Rogers,
///   "Protection against reconstruction and its applications in private federated learning", 2018. It is the
///   best of all unbiased randomizers: H. Asi, V. Feldman, K. Talwar, "Optimal algorithms for mean estimation
///   under local differential privacy", ICML 2022.
namespace bandana {

enum class L2BallRandomizer { kDuchi, kPrivUnit };

struct L2BallSetting {
  double p;         ///< probability of the cap, a multiple of 2^-53
  double gamma;     ///< height at which the cap begins, in [0, 1), a multiple of 2^-52
  double cap_mass;  ///< share of the sphere that the cap has: rejection needs 1/cap_mass trials for the cap
  double scale;     ///< length of the output divided by the radius
  double stddev;    ///< root mean square over coordinates, at x = 0, where it is largest
  double stddev_at_radius;   ///< root mean square over coordinates, at |x| = radius
  double delivered_epsilon;  ///< never more than was requested
};

/// Computes the setting. dimension from 1 to 10^6, epsilon from 1e-6 to 30. Errors name `dimension`,
/// `epsilon`, `radius`.
absl::StatusOr<L2BallSetting> SetUpL2Ball(L2BallRandomizer randomizer, std::int64_t dimension, double epsilon,
                                          double radius);

}  // namespace bandana
