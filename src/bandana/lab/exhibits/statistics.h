#pragma once

#include <cstddef>
#include <string>
#include <vector>

/// What claims are judged by: means over paired replicates, with their standard errors.
namespace bandana::lab {

/// A metric's final values, by replicate. Samples of one run are paired: replicate i is the same instance.
using Sample = std::vector<double>;

struct Estimate {
  double value = 0;
  double se = 0;  ///< standard error; 0 of a single replicate, which has none
};

Estimate MeanOf(const Sample& sample);

/// Of mean(a) - mean(b).
Estimate PairedDifference(const Sample& a, const Sample& b);

/// Of mean(a)/mean(b), by the delta method.
Estimate PairedRatio(const Sample& a, const Sample& b);

/// A metric along a key: y[i] is the sample at x[i], ascending.
struct Line {
  std::vector<double> x;
  std::vector<Sample> y;
};

/// Least-squares slope of ln(mean y) against ln x, its error by the jackknife over replicates. Every x must
/// be positive, and every mean that leaves one replicate out; otherwise NaN.
Estimate LogLogSlope(const Line& line);

/// So many standard errors are clear: for 20 replicates, a false alarm of 0.4 % for a comparison.
inline constexpr double kClear = 3;

enum class Order { kBelow, kUnclear, kAbove };

/// Whether a's mean is below or above b's by kClear standard errors of their paired difference.
Order Compare(const Sample& a, const Sample& b);

/// A figure as a person wants it: 1234 -> "1.23k", at most three digits.
std::string Figure(double value);

/// "1.23k +- 45"
std::string Figure(const Estimate& estimate);

}  // namespace bandana::lab
