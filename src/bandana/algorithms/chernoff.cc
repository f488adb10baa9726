#include "bandana/algorithms/chernoff.h"

#include <algorithm>
#include <array>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <numbers>
#include <vector>

#include "bandana/bandit/clipping.h"
#include "bandana/core/check.h"
#include "bandana/core/golden_section.h"
#include "bandana/core/infinity.h"

namespace bandana {
namespace {

// Returns the hazard rate of the standard normal: its density divided by its upper tail.
double Hazard(double u) {
  if (u < 8) {
    const double density = std::exp(-u * u / 2) / std::sqrt(2 * std::numbers::pi);
    return density / (0.5 * std::erfc(u / std::numbers::sqrt2));
  }
  double fraction = u;  // Laplace's continued fraction
  for (int i = 12; i >= 1; --i) fraction = u + i / fraction;
  return fraction;
}

// Returns ln of the least factor K >= 1 with P(Z > u) <= K exp(-x u) for all u, Z standard normal. K >= 1
// makes it valid also for a variable that Z dominates only above 0.
double ExactLogTilt(double x) {
  constexpr double kHazardAtZero = 0.7978845608028654;
  if (x <= kHazardAtZero) return 0;  // the supremum is at u <= 0, so K = 1
  double u = x > 3 ? x - 1 / x : 1.25 * (x - kHazardAtZero);
  for (int i = 0; i < 4; ++i) {  // Newton's method: at the supremum the hazard rate is x
    const double hazard = Hazard(u);
    u -= (hazard - x) / (hazard * (hazard - u));
  }
  const double log_tail = -u * u / 2 - std::log(Hazard(u) * std::sqrt(2 * std::numbers::pi));
  return std::max(0.0, log_tail + x * u);
}

// Returns an upper bound on ExactLogTilt from a table. ln K is a supremum of lines, so it is convex and lies
// below its chords.
double LogTilt(double x) {
  constexpr int kSize = 4000;
  constexpr double kPerUnit = 100;
  static const std::vector<double> table = [] {
    std::vector<double> values(kSize + 1);
    for (int i = 0; i <= kSize; ++i) values[i] = ExactLogTilt(i / kPerUnit);
    return values;
  }();
  const double place = x * kPerUnit;
  if (!(place < kSize)) return x * x / 2;
  const auto i = static_cast<std::size_t>(place);
  return table[i] + (place - static_cast<double>(i)) * (table[i + 1] - table[i]);
}

// ln E exp(t sum_i w_i Z_i), where Z_i is a sum of n_i Laplace variables. It is
// -sum_i n_i ln(1 - t^2 c_i^2), c_i = w_i scale_i.
class LaplaceMoment {
 public:
  explicit LaplaceMoment(const ErrorLaw& error) : error_(error) {
    for (std::size_t i = 0; i < error.laws.size(); ++i) {
      const auto terms = static_cast<double>(error.laws[i].laplace_terms);
      if (terms == 0) continue;
      const double c = error.weights[i] * error.laws[i].laplace_scale;
      const double square = c * c;
      largest_ = std::max(largest_, square);
      double power = terms;
      for (double& sum : sums_) sum += power *= square;
    }
  }

  bool empty() const { return largest_ == 0; }
  double variance() const { return 2 * sums_[0]; }
  double steepest() const { return std::sqrt(largest_); }

  // Returns an upper bound in a few operations. The series of -ln(1 - y) is summed exactly up to its third
  // term; the rest is at most c y^4, with c from the largest y.
  double FromAbove(double t) const {
    const double square = t * t;
    const double y = square * largest_;
    if (!(y < 1)) return kInfinity;
    double sum = 0;
    double power = 1;
    double head = 0;
    double y_power = 1;
    for (std::size_t j = 1; j < kPowers; ++j) {
      power *= square;
      y_power *= y;
      sum += power * sums_[j - 1] / static_cast<double>(j);
      head += y_power / static_cast<double>(j);
    }
    const double last = y_power * y;
    const double rest = y > 0.05 ? (-std::log1p(-y) - head) / last : 1 / (kPowers * (1 - y));
    return sum + power * square * sums_[kPowers - 1] * rest;
  }

  double Exact(double t) const {
    double sum = 0;
    for (std::size_t i = 0; i < error_.laws.size(); ++i) {
      if (error_.laws[i].laplace_terms == 0) continue;
      const double x = t * error_.weights[i] * error_.laws[i].laplace_scale;
      if (!(std::abs(x) < 1)) return kInfinity;
      sum -= static_cast<double>(error_.laws[i].laplace_terms) * std::log1p(-x * x);
    }
    return sum;
  }

 private:
  static constexpr std::size_t kPowers = 4;
  const ErrorLaw& error_;
  std::array<double, kPowers> sums_{};  // the sums over i of n_i c_i^2, n_i c_i^4, ...
  double largest_ = 0;
};

}  // namespace

double ClientExcess::LogMoment(double t) const {
  if (weight == 0) return 0;
  const auto n = static_cast<double>(clients);
  return n * LogExcessMoment(t * weight / n, room - t * pull / n);
}

double TailBound(const ErrorLaw& error, double level) {
  BANDANA_CHECK(error.weights.size() == error.laws.size() && level > 0 && level < 1);
  const double log_inverse_level = std::log(1 / level);
  const LaplaceMoment laplace(error);
  const double scale = std::sqrt(error.normal);
  if (laplace.empty() && error.excess.weight == 0) {
    if (error.normal == 0) return std::sqrt(2 * log_inverse_level * error.sub_gaussian);
    if (error.sub_gaussian == 0) {
      return level < 0.5 ? scale * std::numbers::sqrt2 * boost::math::erfc_inv(2 * level) : 0;
    }
  }
  const auto bound = [&](double t, double log_laplace) {
    const double log_moment =
        LogTilt(t * scale) + t * t * error.sub_gaussian / 2 + error.excess.LogMoment(t) + log_laplace;
    return (log_moment + log_inverse_level) / t;
  };
  // The log moment is convex, so the bound is quasi-convex in t. The best exponent for a sub-Gaussian error
  // of this variance is the largest that can be best.
  const double variance = error.normal + error.sub_gaussian + laplace.variance();
  double high = variance > 0 ? std::sqrt(2 * log_inverse_level / variance)
                             : static_cast<double>(error.excess.clients) * 40 / error.excess.weight;
  if (!laplace.empty()) high = std::min(high, 1 / laplace.steepest());
  const double t =
      GoldenSection([&](double s) { return bound(s, laplace.FromAbove(s)); }, 0, high, 2e-3 * high);
  return bound(t, laplace.Exact(t));
}

}  // namespace bandana
