#pragma once

#include <cmath>
#include <limits>

namespace bandana {

/// The least double that is not below a + b (Knuth's two-sum tells on which side a + b was rounded): what was
/// spent is never understated.
inline double SumUp(double a, double b) {
  const double sum = a + b;
  const double of_b = sum - a;
  const double error = (a - (sum - of_b)) + (b - of_b);
  return error > 0 ? std::nextafter(sum, std::numeric_limits<double>::infinity()) : sum;
}

}  // namespace bandana
