#pragma once

#include <cstdint>
#include <span>

#include "bandana/core/generators.h"

/// Noise for the lab (`sampler = fast`), exact up to the rounding of doubles. Floating-point noise does not
/// keep a guarantee against an adversary who knows the rounding: in service the exact samplers beside this
/// file are used, and tests hold each pair equal in distribution. Draws are functions of the generator's
/// stream and are the same on every x86-64-v3 machine: core/distributions.h says why.
namespace bandana {

/// As many draws of StandardNormal; exact twin: RoundedNormal.
void FillStandardNormal(std::span<double> out, NoiseGen& gen);

/// As many draws of StandardLaplace; exact twin: DiscreteLaplace.
void FillStandardLaplace(std::span<double> out, NoiseGen& gen);

/// Density x^(shape - 1) exp(-x)/Gamma(shape); 1 <= shape <= 2^62. G. Marsaglia and W. W. Tsang, "A simple
/// method for generating gamma variables", ACM TOMS 26(3), 2000.
double StandardGamma(double shape, NoiseGen& gen);

/// The sum of n independent standard Laplace variables in O(1), as the difference of two gamma variables of
/// shape n; n <= 2^62. 0 for n = 0.
double SumOfLaplace(std::uint64_t n, NoiseGen& gen);

}  // namespace bandana
