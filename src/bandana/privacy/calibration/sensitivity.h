#pragma once

#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "bandana/core/reward.h"

/// How far one record can move a sum. All values are rounded up. Derivations: docs/proofs/sensitivity.md.
namespace bandana {

enum class Neighbours {
  kReplaceOne,  ///< one record is replaced by any other
  kAddRemove,   ///< one record is there or not; its absence adds zero
};
enum class Norm { kL1, kL2 };

/// Where a vector lies: |x_i| <= bound for all i, |x|_1 <= bound, or |x|_2 <= bound.
enum class VectorShape { kBox, kL1Ball, kL2Ball };

/// The sensitivity of a sum of vectors. Errors name `dimension` and `bound`.
absl::StatusOr<double> VectorSensitivity(VectorShape shape, std::int64_t dimension, double bound, Norm norm,
                                         Neighbours neighbours);

/// The same for a box with sides of its own, which need not be symmetric. Errors name `bounds`.
absl::StatusOr<double> BoxSensitivity(std::span<const Interval> bounds, Norm norm, Neighbours neighbours);

/// The sensitivity, against SymmetricNoise, of a sum of matrices v v' with |v|_2^2 <= squared_norm and v of
/// `dimension` entries: |.|_F/sqrt2 of what one record moves. Replace-one: squared_norm itself (over sqrt2 if
/// the dimension is 1).
absl::StatusOr<double> SymmetricSensitivity(std::int64_t dimension, double squared_norm,
                                            Neighbours neighbours);

/// The replace-one sensitivity of the sums of x x', against SymmetricNoise, and of w y x together, |x|_2 <=
/// context_norm = L, |y| <= reward_bound = B, w = reward_weight: L^2 + w^2 B^2 if w B <= L, else 2 L w B.
absl::StatusOr<double> RegressionSensitivity(double context_norm, double reward_bound, double reward_weight);

/// Gaussian noise Z = (N + N')/sqrt2 for a symmetric matrix, N_ij independent N(0, s^2): independent entries
/// on and above the diagonal. Against it a matrix M counts as a vector of length |M|_F/sqrt2 does against
/// N(0, s^2).
struct SymmetricNoise {
  double off_diagonal_stddev;  ///< s
  double diagonal_stddev;      ///< sqrt2 s
};

/// `sensitivity` is SymmetricSensitivity's; the multiplier is that of calibration/gaussian.h.
SymmetricNoise SymmetricGaussianNoise(double multiplier, double sensitivity);

}  // namespace bandana
