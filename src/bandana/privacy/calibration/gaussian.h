#pragma once

#include "absl/status/statusor.h"
#include "bandana/privacy/guarantee.h"

/// The Gaussian mechanism: noise N(0, (noise_multiplier * D)^2) on a statistic of l2 sensitivity D.
///
/// B. Balle and Y.-X. Wang, "Improving the Gaussian mechanism for differential privacy: analytical
/// calibration and optimal denoising", ICML 2018. It is exact for continuous noise and for its roundings
/// (samplers/rounded_normal.h).
namespace bandana {

/// Returns the least delta for which the mechanism is (epsilon, delta)-DP (Theorem 8), with a relative error
/// below 1e-12 for delta down to 1e-300. epsilon >= 0, noise_multiplier >= 0; without noise the result is 1.
double GaussianDelta(double epsilon, double noise_multiplier);

/// Returns the epsilon that the mechanism delivers at `delta`: the upper end of a bracket of width 1e-12
/// max(epsilon, 0.1) around the least one. It is infinite if there is none: delta = 0, or no noise.
double GaussianEpsilon(double delta, double noise_multiplier);

/// Returns the noise multiplier that the guarantee needs: the upper end of a bracket of relative width 1e-12
/// around the least one, so that the mechanism never delivers less than was requested.
absl::StatusOr<double> TightGaussianMultiplier(DpGuarantee guarantee);

/// Returns sqrt(2 ln(1.25/delta))/epsilon, as in P1's Theorems 4.2 and 4.4. It gives the guarantee for
/// epsilon <= 1 only (C. Dwork and A. Roth, 2014, Theorem A.1): at (10, 0.1) the delta delivered is 0.406.
/// GaussianEpsilon tells what it delivers.
absl::StatusOr<double> ClassicGaussianMultiplier(DpGuarantee guarantee);

}  // namespace bandana
