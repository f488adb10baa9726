#pragma once

#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "bandana/core/reward.h"

/// The sensitivity of sums: how far one record can move a sum. All values are rounded up. Derivations:
/// docs/proofs/sensitivity.md.
namespace bandana {

enum class Neighbours {
  kReplaceOne,  ///< one record is replaced by any other record
  kAddRemove,   ///< one record is present or absent; an absent record adds zero
};
enum class Norm { kL1, kL2 };

/// The set that a vector x lies in: |x_i| <= bound for all i, |x|_1 <= bound, or |x|_2 <= bound.
enum class VectorShape { kBox, kL1Ball, kL2Ball };

/// Returns the sensitivity of a sum of vectors. Errors name `dimension` and `bound`.
absl::StatusOr<double> VectorSensitivity(VectorShape shape, std::int64_t dimension, double bound, Norm norm,
                                         Neighbours neighbours);

/// Returns the sensitivity, against SymmetricNoise, of a sum of matrices v v' with |v|_2^2 <= squared_norm
/// and v of `dimension` entries: the norm |.|_F/sqrt2 of the largest change by one record. For replace-one it
/// is squared_norm itself (divided by sqrt2 if the dimension is 1).
absl::StatusOr<double> SymmetricSensitivity(std::int64_t dimension, double squared_norm,
                                            Neighbours neighbours);

/// Returns the replace-one sensitivity of the sums of x x', against SymmetricNoise, and of w y x together.
/// The bounds are |x|_2 <= context_norm = L and |y| <= reward_bound = B; w = reward_weight. The result is L^2
/// + w^2 B^2 if w B <= L, else 2 L w B.
absl::StatusOr<double> RegressionSensitivity(double context_norm, double reward_bound, double reward_weight);

/// Gaussian noise Z = (N + N')/sqrt2 for a symmetric matrix, where all N_ij are independent N(0, s^2). The
/// entries of Z on and above the diagonal are independent. Against Z a matrix M has the same privacy loss as
/// a vector of length |M|_F/sqrt2 against N(0, s^2).
struct SymmetricNoise {
  double off_diagonal_stddev;  ///< s
  double diagonal_stddev;      ///< sqrt2 s
};

/// Returns the noise for a sensitivity that SymmetricSensitivity returned. The multiplier is that of
/// calibration/gaussian.h.
SymmetricNoise SymmetricGaussianNoise(double multiplier, double sensitivity);

}  // namespace bandana
