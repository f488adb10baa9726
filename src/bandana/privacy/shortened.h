#pragma once

#include <span>
#include <vector>

namespace bandana {

/// The vector over the radius, shortened to length 1 if it is longer; 0 if it is not finite. Finite vectors
/// of any size keep their direction. No longer than 1 + 2^-52 (dimension + 8), whatever comes in; radius > 0.
void Shorten(std::span<const double> vector, double radius, std::span<double> result);

/// The same, in a vector of its own.
std::vector<double> Shortened(std::span<const double> vector, double radius);

}  // namespace bandana
