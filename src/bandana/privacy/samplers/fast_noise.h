#pragma once

#include <cstdint>
#include <span>

#include "bandana/core/generators.h"

/// Noise for the lab (`sampler = fast`), exact up to the rounding of doubles. Floating-point noise does not
/// keep a guarantee against an adversary who knows the rounding. The service uses the exact samplers in this
/// folder, and tests check that each pair has the same distribution. Draws are functions of the generator's
/// stream and are the same on every x86-64-v3 machine; core/distributions.h says why.
namespace bandana {

/// Draws the sum of n independent standard Laplace variables in O(1), as the difference of two gamma
/// variables of shape n (G. Marsaglia and W. W. Tsang, "A simple method for generating gamma variables", ACM
/// TOMS 26(3), 2000); n <= 2^62. Returns 0 for n = 0.
double SumOfLaplace(std::uint64_t n, NoiseGen& gen);

}  // namespace bandana
