#pragma once

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "bandana/core/bit_source.h"
#include "bandana/core/generators.h"
#include "bandana/core/noise_door.h"

/// Helpers for many tests: seeded generators, and tests of samples against laws (probability distributions).
namespace bandana::test {

inline StreamKey TestKey(std::uint64_t seed, Epoch epoch = 0) {
  return {.seed = seed, .epoch = epoch, .stream = Stream::kTest};
}

struct Coins {
  explicit Coins(std::uint64_t seed) : source(TestKey(seed)), gen(source) {}
  PhiloxSource source;
  CoinGen gen;
};

struct Noise {
  explicit Noise(std::uint64_t seed, Epoch epoch = 0)
      : source(TestKey(seed, epoch)), gen(NoiseDoor::Open(source)) {}
  PhiloxSource source;
  NoiseGen gen;
};

/// Returns the Kolmogorov-Smirnov distance between two samples; ties count once.
inline double KsDistance(std::vector<double> a, std::vector<double> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  double farthest = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const double x = std::min(a[i], b[j]);
    while (i < a.size() && a[i] <= x) ++i;
    while (j < b.size() && b[j] <= x) ++j;
    const double gap = static_cast<double>(i) / static_cast<double>(a.size()) -
                       static_cast<double>(j) / static_cast<double>(b.size());
    farthest = std::max(farthest, std::abs(gap));
  }
  return farthest;
}

/// Returns whether two samples may come from one law (Kolmogorov-Smirnov). If they do, it returns false with
/// probability at most `false_alarm`, or less if the law is discrete.
inline bool SameLaw(const std::vector<double>& a, const std::vector<double>& b, double false_alarm = 1e-6) {
  const auto n = static_cast<double>(a.size());
  const auto m = static_cast<double>(b.size());
  return KsDistance(a, b) <= std::sqrt(std::log(2 / false_alarm) / 2 * (n + m) / (n * m));
}

/// Returns whether counts pass Pearson's chi-squared test against `expected`. Every cell should expect at
/// least 25.
inline bool FitsCounts(std::span<const double> counts, std::span<const double> expected,
                       double false_alarm = 1e-6) {
  double statistic = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    statistic += (counts[i] - expected[i]) * (counts[i] - expected[i]) / expected[i];
  }
  const boost::math::chi_squared law(static_cast<double>(counts.size()) - 1);
  return statistic <= quantile(complement(law, false_alarm));
}

/// Pearson's test for masses that sum to 1. It joins neighbouring cells until each of them expects 25 draws.
inline bool FitsMasses(std::span<const double> counts, std::span<const double> masses,
                       double false_alarm = 1e-6) {
  double left = 0;
  for (const double count : counts) left += count;
  const double draws = left;
  std::vector<double> joined(1), expected(1);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    joined.back() += counts[i];
    expected.back() += draws * masses[i];
    left -= draws * masses[i];
    if (expected.back() < 25 || left < 25) continue;
    joined.push_back(0);
    expected.push_back(0);
  }
  return FitsCounts(joined, expected, false_alarm);
}

/// Returns whether a sample passes the Kolmogorov-Smirnov test against a continuous law.
template <class Cdf>
bool FitsCdf(std::vector<double> sample, Cdf cdf, double false_alarm = 1e-6) {
  std::sort(sample.begin(), sample.end());
  const auto n = static_cast<double>(sample.size());
  double distance = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double f = cdf(sample[i]);
    distance = std::max({distance, f - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - f});
  }
  return std::sqrt(n) * distance < std::sqrt(0.5 * std::log(2 / false_alarm));
}

struct Moments {
  double mean = 0;
  double variance = 0;
};

inline Moments MomentsOf(std::span<const double> sample) {
  Moments moments;
  for (const double x : sample) moments.mean += x;
  moments.mean /= static_cast<double>(sample.size());
  for (const double x : sample) moments.variance += (x - moments.mean) * (x - moments.mean);
  moments.variance /= static_cast<double>(sample.size() - 1);
  return moments;
}

}  // namespace bandana::test
