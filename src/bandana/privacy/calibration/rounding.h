#pragma once

#include <cmath>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "bandana/core/infinity.h"
#include "bandana/core/status.h"

/// Arithmetic on noise and on privacy loss that never rounds down, and the check of its arguments. Arguments
/// and results must be positive and far from the ends of the range of doubles.
namespace bandana::calibration {

inline double NextUp(double x) { return std::nextafter(x, kInfinity); }

/// Returns the least double >= a b.
inline double ProductUp(double a, double b) {
  const double product = a * b;
  return std::fma(a, b, -product) > 0 ? NextUp(product) : product;
}

/// Returns the least double >= a / b.
inline double QuotientUp(double a, double b) {
  const double quotient = a / b;
  return std::fma(quotient, b, -a) < 0 ? NextUp(quotient) : quotient;
}

/// Returns the least double >= sqrt(x).
inline double SqrtUp(double x) {
  const double root = std::sqrt(x);
  return std::fma(root, root, -x) < 0 ? NextUp(root) : root;
}

/// The accepted range. A value outside it is a mistake, and its products would lose digits.
inline constexpr double kLeast = 1e-60;
inline constexpr double kMost = 1e60;

/// Fails unless the value, on which privacy depends, is in the accepted range: NaN, infinite, zero, negative
/// and denormal values are refused.
inline absl::Status CheckPositive(std::string key, double value) {
  if (value >= kLeast && value <= kMost) return absl::OkStatus();
  return InvalidOption(std::move(key), value, "a finite number > 0 (from 1e-60 to 1e60)");
}

}  // namespace bandana::calibration
