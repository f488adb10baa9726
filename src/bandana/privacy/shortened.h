#pragma once

#include <span>
#include <vector>

namespace bandana {

/// Writes the vector divided by the radius, shortened to length 1 if it is longer, or 0 if it is not finite.
/// Finite vectors of any size keep their direction. The result is no longer than 1 + 2^-52 (dimension + 8)
/// for any input. The radius must be positive.
void Shorten(std::span<const double> vector, double radius, std::span<double> result);

/// Returns the result of Shorten.
std::vector<double> Shortened(std::span<const double> vector, double radius);

}  // namespace bandana
