#pragma once

#include <cmath>

#include "bandana/core/infinity.h"

namespace bandana {

/// Returns the smallest double that is not below a + b, so that a sum of spendings is never understated.
/// Knuth's two-sum tells on which side a + b was rounded.
inline double SumUp(double a, double b) {
  const double sum = a + b;
  const double of_b = sum - a;
  const double error = (a - (sum - of_b)) + (b - of_b);
  return error > 0 ? std::nextafter(sum, kInfinity) : sum;
}

}  // namespace bandana
