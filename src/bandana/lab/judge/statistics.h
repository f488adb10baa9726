#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

/// The statistics by which claims are judged: means over paired replicates, with their standard errors.
namespace bandana::lab {

/// The final values of a metric, one per replicate. Samples of one run are paired: replicate i has the same
/// instance in all of them.
using Sample = std::vector<double>;

struct Estimate {
  double value = 0;
  double se = 0;  ///< the standard error; NaN if there is one replicate, from which it cannot be known
};

Estimate MeanOf(const Sample& sample);

/// Returns the mean of the values but j.
double MeanWithout(const Sample& sample, std::size_t j);

/// Returns the middle value, or the mean of the two middle values.
double MedianOf(Sample sample);

/// Estimates mean(a) - mean(b).
Estimate PairedDifference(const Sample& a, const Sample& b);

/// Estimates mean(a)/mean(b), with the standard error by the delta method.
Estimate PairedRatio(const Sample& a, const Sample& b);

/// A metric along a key: y[i] is the sample at x[i], ascending.
struct Line {
  std::vector<double> x;
  std::vector<Sample> y;
};

/// Returns the least-squares slope of ln(mean y) against ln x, with its standard error by the jackknife over
/// replicates. Every x must be positive, and every mean with one replicate left out too; otherwise the result
/// is NaN. With one replicate the standard error is NaN.
Estimate LogLogSlope(const Line& line);

/// Returns the standard error of a statistic by the jackknife. `without` has its value with each replicate
/// left out. NaN if there is one replicate.
double JackknifeError(const Sample& without);

/// Returns by how much the values of the replicates differ from their median at most, as a share of it.
/// Nothing: there are fewer than two, or one is not positive.
std::optional<double> SpreadOf(const Sample& sample);

/// A difference of this many standard errors counts as clear. With 20 replicates a comparison then has a
/// false-alarm rate of 0.4 %.
inline constexpr double kClear = 3;

enum class Order { kBelow, kUnclear, kAbove };

/// Returns whether the mean of a is below or above that of b by at least kClear standard errors of their
/// paired difference. A difference of one replicate is never clear.
Order Compare(const Sample& a, const Sample& b);

/// Returns a number for people, with at most three digits: 1234 -> "1.23k".
std::string Figure(double value);

/// Returns an estimate for people: "1.23k +- 45", or "1.23k" if the standard error is unknown.
std::string Figure(const Estimate& estimate);

}  // namespace bandana::lab
