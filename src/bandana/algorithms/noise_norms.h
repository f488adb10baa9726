#pragma once

#include "bandana/core/ids.h"

/// Public constants for the widths of private regression: how large the noise of RegressionSums is. All from
/// above. Derivations: docs/proofs/regression-noise.md. `level` is in (0, 1).
namespace bandana {

/// A q with P(|Z|_op > q) <= level, Z a symmetric d x d matrix of independent normals, of standard deviation
/// 1 off the diagonal and sqrt2 on it. Up to d = 256 the expected number of eigenvalues outside [-q, q] is
/// the level, which is what the exact law gives up to a thousandth; above, Gaussian concentration.
double SymmetricNoiseNorm(Count d, double level);

/// The q with P(|H theta - h| > q) = level for the worst |theta| <= theta_norm: H is gram_noise times such a
/// matrix, h has d independent entries of standard deviation moment_noise.
double BiasNoiseNorm(Count d, double theta_norm, double gram_noise, double moment_noise, double level);

/// The reward_weight w at which shift_factor q S s + BiasNoiseNorm(d, S, s, s/w, level) is least, q that of
/// SymmetricNoiseNorm and s = L^2 + w^2 B^2, to which the noise of x x' is proportional; w B <= L.
double BestRewardWeight(Count d, double context_norm, double reward_bound, double theta_norm, double level,
                        double shift_factor);

namespace internal {

/// The expected number of eigenvalues of Z above x.
double ExpectedEigenvaluesAbove(Count d, double x);

/// q by Gaussian concentration, whatever d.
double ConcentratedNoiseNorm(Count d, double level);

}  // namespace internal
}  // namespace bandana
