#pragma once

#include "bandana/core/ids.h"

/// Public constants for the widths of private regression: upper bounds on the noise of RegressionSums. They
/// are derived in docs/proofs/regression-noise.md. `level` is in (0, 1).
namespace bandana {

/// Returns a q with P(|Z|_op > q) <= level. Z is a symmetric d x d matrix of independent normals, of standard
/// deviation 1 off the diagonal and sqrt2 on it. Up to d = 256 the expected number of eigenvalues outside
/// [-q, q] is the level, which agrees with the exact law up to a thousandth. Above, q comes from Gaussian
/// concentration.
double SymmetricNoiseNorm(Count d, double level);

/// Returns the q with P(|H theta - h| > q) = level for the worst |theta| <= theta_norm. H is gram_noise times
/// a matrix like Z, and h has d independent entries of standard deviation moment_noise.
double BiasNoiseNorm(Count d, double theta_norm, double gram_noise, double moment_noise, double level);

/// Returns the reward_weight w at which shift_factor q S s + BiasNoiseNorm(d, S, s, s/w, level) is smallest.
/// q is that of SymmetricNoiseNorm, and the noise of x x' is proportional to s = L^2 + w^2 B^2; w B <= L.
double BestRewardWeight(Count d, double context_norm, double reward_bound, double theta_norm, double level,
                        double shift_factor);

namespace internal {

/// Returns the expected number of eigenvalues of Z above x.
double ExpectedEigenvaluesAbove(Count d, double x);

/// Returns q by Gaussian concentration, for any d.
double ConcentratedNoiseNorm(Count d, double level);

}  // namespace internal
}  // namespace bandana
