#include "bandana/lab/judge/statistics.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "bandana/core/check.h"
#include "fmt/format.h"

namespace bandana::lab {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double Slope(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  double mean_x = 0;
  double mean_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += x[i] / n;
    mean_y += y[i] / n;
  }
  double xy = 0;
  double xx = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    xx += (x[i] - mean_x) * (x[i] - mean_x);
  }
  return xy / xx;
}

// Returns the slope with replicate `left_out` left out of every mean. If there is no such replicate, none is
// left out.
double LogLogSlopeWithout(const Line& line, std::size_t left_out) {
  std::vector<double> log_x;
  std::vector<double> log_y;
  for (std::size_t i = 0; i < line.x.size(); ++i) {
    double sum = 0;
    double count = 0;
    for (std::size_t j = 0; j < line.y[i].size(); ++j) {
      if (j == left_out) continue;
      sum += line.y[i][j];
      ++count;
    }
    log_x.push_back(std::log(line.x[i]));
    log_y.push_back(std::log(sum / count));
  }
  const double slope = Slope(log_x, log_y);
  return std::isfinite(slope) ? slope : kUnknown;
}

}  // namespace

Estimate MeanOf(const Sample& sample) {
  BANDANA_CHECK(!sample.empty());
  const auto n = static_cast<double>(sample.size());
  double sum = 0;
  for (const double value : sample) sum += value;
  const double mean = sum / n;
  double squares = 0;
  for (const double value : sample) squares += (value - mean) * (value - mean);
  return {mean, sample.size() > 1 ? std::sqrt(squares / (n - 1) / n) : kUnknown};
}

double MeanWithout(const Sample& sample, std::size_t j) {
  BANDANA_CHECK(sample.size() > 1 && j < sample.size());
  double sum = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) sum += i == j ? 0 : sample[i];
  return sum / static_cast<double>(sample.size() - 1);
}

double MedianOf(Sample sample) {
  BANDANA_CHECK(!sample.empty());
  std::sort(sample.begin(), sample.end());
  const std::size_t half = sample.size() / 2;
  return sample.size() % 2 == 1 ? sample[half] : (sample[half - 1] + sample[half]) / 2;
}

Estimate PairedDifference(const Sample& a, const Sample& b) {
  BANDANA_CHECK(a.size() == b.size());
  Sample difference;
  for (std::size_t i = 0; i < a.size(); ++i) difference.push_back(a[i] - b[i]);
  return MeanOf(difference);
}

Estimate PairedRatio(const Sample& a, const Sample& b) {
  BANDANA_CHECK(a.size() == b.size());
  const double below = MeanOf(b).value;
  const double ratio = MeanOf(a).value / below;
  Sample residual;
  for (std::size_t i = 0; i < a.size(); ++i) residual.push_back(a[i] - ratio * b[i]);
  return {ratio, MeanOf(residual).se / std::abs(below)};
}

Estimate LogLogSlope(const Line& line) {
  BANDANA_CHECK(line.x.size() >= 2 && line.x.size() == line.y.size());
  const std::size_t n = line.y.front().size();
  for (const Sample& sample : line.y) BANDANA_CHECK(sample.size() == n);
  const double slope = LogLogSlopeWithout(line, n);
  if (n < 2) return {slope, kUnknown};
  Sample without;
  for (std::size_t j = 0; j < n; ++j) without.push_back(LogLogSlopeWithout(line, j));
  return {slope, JackknifeError(without)};
}

double JackknifeError(const Sample& without) {
  return static_cast<double>(without.size() - 1) * MeanOf(without).se;
}

std::optional<double> SpreadOf(const Sample& sample) {
  if (sample.size() < 2) return std::nullopt;
  const auto [least, most] = std::minmax_element(sample.begin(), sample.end());
  if (!(*least > 0) || !std::isfinite(*most)) return std::nullopt;
  const double median = MedianOf(sample);
  return std::max(*most / median, median / *least) - 1;
}

Order Compare(const Sample& a, const Sample& b) {
  const Estimate difference = PairedDifference(a, b);
  if (difference.value < 0 && -difference.value >= kClear * difference.se) return Order::kBelow;
  if (difference.value > 0 && difference.value >= kClear * difference.se) return Order::kAbove;
  return Order::kUnclear;
}

std::string Figure(double value) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  static constexpr const char* kSuffixes[] = {"", "k", "M", "G", "T"};
  std::size_t step = 0;
  while (std::abs(value) >= 999.5 && step + 1 < std::size(kSuffixes)) {
    value /= 1000;
    ++step;
  }
  return fmt::format("{:.3g}{}", value, kSuffixes[step]);
}

std::string Figure(const Estimate& estimate) {
  if (std::isnan(estimate.se)) return Figure(estimate.value);
  return fmt::format("{} +- {}", Figure(estimate.value), Figure(estimate.se));
}

}  // namespace bandana::lab
