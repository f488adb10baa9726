#include "bandana/audit/distinguisher.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include "bandana/core/check.h"
#include "fmt/format.h"

namespace bandana::audit {
namespace {

using Feature = std::function<double(std::span<const double>)>;

constexpr std::size_t kCells = 128;
constexpr std::size_t kMostCoordinates = 16;

// Divides the values seen into cells between quantiles. If there are few different values, each has its own
// cell.
class Histogram {
 public:
  Histogram(const Feature& feature, const Training& training) {
    std::vector<double> pooled;
    for (const Sample* sample : {&training.first, &training.second}) {
      for (std::size_t i = 0; i < sample->size(); ++i) pooled.push_back(feature((*sample)[i]));
    }
    std::vector<double> values = pooled;
    std::sort(values.begin(), values.end());
    std::vector<double> distinct;
    for (std::size_t i = 0; i < values.size() && distinct.size() <= kCells; ++i) {
      if (distinct.empty() || values[i] != distinct.back()) distinct.push_back(values[i]);
    }
    if (distinct.size() <= kCells) {
      edges_ = std::move(distinct);
    } else {
      for (std::size_t i = 1; i < kCells; ++i) edges_.push_back(values[i * values.size() / kCells]);
      edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
    }
    std::vector<double> counts[2];
    for (auto& side : counts) side.assign(edges_.size() + 1, 0);
    for (std::size_t i = 0; i < pooled.size(); ++i) ++counts[i >= training.first.size()][Cell(pooled[i])];
    const auto n = static_cast<double>(training.first.size());
    const auto m = static_cast<double>(training.second.size());
    for (std::size_t cell = 0; cell <= edges_.size(); ++cell) {
      // Adds one to each count, so that a cell seen once does not seem to prove everything.
      scores_.push_back(std::log((counts[1][cell] + 1) / (m + 1)) -
                        std::log((counts[0][cell] + 1) / (n + 1)));
    }
  }

  double Score(double value) const { return scores_[Cell(value)]; }

 private:
  std::size_t Cell(double value) const {
    return static_cast<std::size_t>(std::upper_bound(edges_.begin(), edges_.end(), value) - edges_.begin());
  }

  std::vector<double> edges_;
  std::vector<double> scores_;
};

double Along(std::span<const double> direction, std::span<const double> view) {
  double along = 0;
  for (std::size_t i = 0; i < view.size(); ++i) along += direction[i] * view[i];
  return along;
}

// Returns the difference of the means, each coordinate divided by its variance. This is the best direction if
// coordinates are independent and normal (R. A. Fisher, 1936).
std::vector<double> LearnDirection(const Training& training) {
  const std::size_t dimension = training.first.dimension();
  std::vector<double> direction(dimension);
  for (std::size_t j = 0; j < dimension; ++j) {
    double mean[2] = {0, 0};
    double variance = 0;
    for (const int second : {0, 1}) {
      const Sample& sample = second != 0 ? training.second : training.first;
      const auto n = static_cast<double>(sample.size());
      for (std::size_t i = 0; i < sample.size(); ++i) mean[second] += sample[i][j] / n;
      for (std::size_t i = 0; i < sample.size(); ++i) {
        variance += (sample[i][j] - mean[second]) * (sample[i][j] - mean[second]) / n;
      }
    }
    const double difference = mean[1] - mean[0];
    direction[j] = variance > 0 ? difference / variance : difference;
    if (!std::isfinite(direction[j])) direction[j] = 0;
  }
  return direction;
}

}  // namespace

double LowestBit(double x) {
  if (x == 0) return -2000;
  if (!std::isfinite(x)) return 2000;
  int exponent = 0;
  const auto mantissa = static_cast<std::uint64_t>(std::ldexp(std::abs(std::frexp(x, &exponent)), 53));
  return exponent - 53 + std::countr_zero(mantissa);
}

std::function<double(std::span<const double>)> LaplaceLogRatio(std::vector<double> a, std::vector<double> b,
                                                               double scale) {
  return [a = std::move(a), b = std::move(b), scale](std::span<const double> view) {
    double ratio = 0;
    for (std::size_t i = 0; i < a.size(); ++i) ratio += std::abs(view[i] - a[i]) - std::abs(view[i] - b[i]);
    return ratio / scale;
  };
}

std::vector<Distinguisher> LearnDistinguishers(const Target& target, const Training& training) {
  std::vector<Distinguisher> found;
  if (target.log_ratio) found.push_back({"likelihood ratio", target.log_ratio});

  const bool known = !target.direction.empty();
  BANDANA_CHECK(!known || target.direction.size() == target.dimension);
  const Feature projection = [direction = known ? target.direction : LearnDirection(training)](
                                 std::span<const double> view) { return Along(direction, view); };
  found.push_back({"projection", projection});

  const auto learn = [&](const Feature& feature) {
    return std::make_shared<const Histogram>(feature, training);
  };
  const auto add = [&](std::string name, const Feature& feature) {
    const auto histogram = learn(feature);
    found.push_back({std::move(name), [feature, histogram](std::span<const double> view) {
                       return histogram->Score(feature(view));
                     }});
    return histogram;
  };
  if (target.dimension > 1) add("histogram of the projection", projection);
  std::vector<std::shared_ptr<const Histogram>> coordinates;
  for (std::size_t j = 0; j < std::min(target.dimension, kMostCoordinates); ++j) {
    coordinates.push_back(add(fmt::format("histogram of coordinate {}", j),
                              [j](std::span<const double> view) { return view[j]; }));
    add(fmt::format("lowest bit of coordinate {}", j),
        [j](std::span<const double> view) { return LowestBit(view[j]); });
  }
  if (target.dimension > 1) {
    found.push_back({"histograms of all coordinates", [coordinates](std::span<const double> view) {
                       double score = 0;
                       for (std::size_t j = 0; j < coordinates.size(); ++j)
                         score += coordinates[j]->Score(view[j]);
                       return score;
                     }});
  }
  return found;
}

}  // namespace bandana::audit
