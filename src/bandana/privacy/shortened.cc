#include "bandana/privacy/shortened.h"

#include <algorithm>
#include <cmath>

namespace bandana {

void Shorten(std::span<const double> vector, double radius, std::span<double> result) {
  std::fill(result.begin(), result.end(), 0);
  double largest = 0;
  for (const double x : vector) {
    if (!std::isfinite(x)) return;
    largest = std::max(largest, std::abs(x));
  }
  if (largest == 0) return;
  double squares = 0;  // squared length of the vector divided by its largest entry: from 1 to its dimension
  for (const double x : vector) squares += (x / largest) * (x / largest);
  const double length = std::sqrt(squares);
  const bool inside = largest / radius * length <= 1;  // false on overflow
  for (std::size_t i = 0; i < vector.size(); ++i) {
    result[i] = inside ? vector[i] / radius : vector[i] / largest / length;
  }
}

std::vector<double> Shortened(std::span<const double> vector, double radius) {
  std::vector<double> result(vector.size(), 0);
  Shorten(vector, radius, result);
  return result;
}

}  // namespace bandana
