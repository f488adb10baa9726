#include "bandana/algorithms/fed_ucb/noise_norms.h"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <map>
#include <mutex>
#include <numbers>
#include <tuple>

#include "bandana/core/check.h"

namespace bandana {
namespace {

using std::numbers::sqrt2;

constexpr double kGuard = 1 + 1e-9;  // above the errors of quadrature, and of the search
constexpr Count kMostExact = 256;    // beyond, Hermite functions near the edge leave the range of doubles

// Hermite functions, orthonormal on the line, of degree n - 1 and n, and their integrals over (x, infinity).
struct HermiteEdge {
  double kernel;    // sum of squares of degrees 0 to n - 1
  double function;  // of degree n - 1
  double tail;      // of degree n
};

HermiteEdge HermiteAt(Count n, double x) {
  const double root_pi = std::sqrt(std::sqrt(std::numbers::pi));
  double before = 0;
  double now = std::exp(-x * x / 2) / root_pi;  // of degree k
  double tail_now = std::sqrt(std::numbers::pi / 2) * std::erfc(x / sqrt2) / root_pi;
  double tail_next = sqrt2 * now;
  double kernel = now * now;
  for (Count k = 0; k + 1 < n; ++k) {
    const auto degree = static_cast<double>(k);
    const double next = sqrt2 / std::sqrt(degree + 1) * x * now - std::sqrt(degree / (degree + 1)) * before;
    before = now;
    now = next;
    kernel += now * now;
    // phi_m' = sqrt(m/2) phi_(m-1) - sqrt((m+1)/2) phi_(m+1) at m = k + 1, integrated
    const double tail_after =
        std::sqrt((degree + 1) / (degree + 2)) * tail_now + sqrt2 / std::sqrt(degree + 2) * now;
    tail_now = tail_next;
    tail_next = tail_after;
  }
  return {kernel, now, tail_next};
}

// Integrates over the whole line; n is even.
double HermiteIntegral(Count n) {
  double integral = std::sqrt(2 * std::numbers::pi) / std::sqrt(std::sqrt(std::numbers::pi));
  for (Count k = 2; k <= n; k += 2) {
    integral *= std::sqrt(static_cast<double>(k - 1) / static_cast<double>(k));
  }
  return integral;
}

// A panel has this many points, which is more than enough for functions that are smooth over it.
template <class Function>
double Integral(const Function& function, double from, double to, int panels) {
  const double width = (to - from) / panels;
  double sum = 0;
  for (int i = 0; i < panels; ++i) {
    sum += boost::math::quadrature::gauss<double, 15>::integrate(function, from + i * width,
                                                                 from + (i + 1) * width);
  }
  return sum;
}

// Returns the smallest x above `low` with falls(x) <= level, to 1e-10 and from above. falls does not grow.
template <class Function>
double LeastBelow(const Function& falls, double level, double low, double high) {
  while (falls(high) > level) high += high - low;
  if (falls(low) <= level) return low;
  const auto gap = [&](double x) { return std::log(std::max(falls(x), 1e-300) / level); };
  std::uintmax_t iterations = 100;
  const auto near = [](double a, double b) { return b - a <= 1e-10 * b; };
  return boost::math::tools::toms748_solve(gap, low, high, near, iterations).second;
}

// Returns P(b X^2 + a Y > t^2), X normal, Y chi-square with d - 1 degrees of freedom.
double WeightedTail(Count d, double a, double b, double t) {
  const double reach = t / std::sqrt(b);
  const double alone = std::erfc(reach / sqrt2);
  if (d == 1) return alone;
  const double half = static_cast<double>(d - 1) / 2;
  const auto inside = [&](double angle) {  // X = reach sin(angle)
    const double x = reach * std::sin(angle);
    const double left = t * std::cos(angle);
    return std::exp(-x * x / 2) * reach * std::cos(angle) * boost::math::gamma_q(half, left * left / (2 * a));
  };
  return alone + std::sqrt(2 / std::numbers::pi) * Integral(inside, 0, std::numbers::pi / 2, 8);
}

double NormalQuantileAbove(double level) { return sqrt2 * boost::math::erfc_inv(2 * level); }

// Keeps results: every replicate of every point asks for the same few.
template <class... Arguments>
class Memo {
 public:
  template <class Compute>
  double Get(const std::tuple<Arguments...>& arguments, Compute compute) {
    {
      const std::lock_guard lock(mutex_);
      const auto known = values_.find(arguments);
      if (known != values_.end()) return known->second;
    }
    const double value = compute();
    const std::lock_guard lock(mutex_);
    return values_.emplace(arguments, value).first->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::tuple<Arguments...>, double> values_;
};

}  // namespace

namespace internal {

// M. L. Mehta, "Random matrices", 3rd ed., (7.2.27)-(7.2.32), in his variable x/sqrt2.
double ExpectedEigenvaluesAbove(Count d, double x) {
  BANDANA_CHECK(d >= 1 && d <= kMostExact);
  const bool odd = d % 2 == 1;
  const double whole = odd ? HermiteIntegral(d - 1) : HermiteIntegral(d);
  const double root = std::sqrt(static_cast<double>(d) / 2);
  const auto density = [&](double y) {
    const HermiteEdge at = HermiteAt(d, y);
    const double sided = (odd ? 0 : whole / 2) - at.tail;
    return at.kernel + root * at.function * sided + (odd ? at.function / whole : 0);
  };
  const double from = x / sqrt2;
  const double to = std::max(from, std::sqrt(2 * static_cast<double>(d))) + 10;
  return std::max(0.0, Integral(density, from, to, static_cast<int>(std::ceil(4 * (to - from)))));
}

double ConcentratedNoiseNorm(Count d, double level) {
  BANDANA_CHECK(d >= 1 && level > 0 && level < 1);
  return (2 * std::sqrt(static_cast<double>(d)) + sqrt2 * NormalQuantileAbove(level / 2)) * kGuard;
}

}  // namespace internal

double SymmetricNoiseNorm(Count d, double level) {
  const double above = internal::ConcentratedNoiseNorm(d, level);
  if (d > kMostExact || level < 1e-30) return above;
  static Memo<Count, double>& memo = *new Memo<Count, double>;
  return memo.Get({d, level}, [&] {
    const auto outside = [&](double q) { return 2 * internal::ExpectedEigenvaluesAbove(d, q); };
    return std::min(above, LeastBelow(outside, level, 0, above) * kGuard);
  });
}

double BiasNoiseNorm(Count d, double theta_norm, double gram_noise, double moment_noise, double level) {
  BANDANA_CHECK(d >= 1 && theta_norm >= 0 && gram_noise >= 0 && moment_noise >= 0 && level > 0 && level < 1);
  const double gram = gram_noise * theta_norm;
  const double largest = std::max(gram, moment_noise);
  if (largest == 0) return 0;
  const double a = std::pow(gram / largest, 2) + std::pow(moment_noise / largest, 2);
  const double b = a + std::pow(gram / largest, 2);
  static Memo<Count, double, double, double>& memo = *new Memo<Count, double, double, double>;
  const double q = memo.Get({d, a, b, level}, [&] {
    return LeastBelow([&](double t) { return WeightedTail(d, a, b, t); }, level, 0,
                      std::sqrt(b) * (std::sqrt(static_cast<double>(d)) + std::sqrt(-2 * std::log(level))));
  });
  return q * largest * kGuard;
}

double BestRewardWeight(Count d, double context_norm, double reward_bound, double theta_norm, double level,
                        double shift_factor) {
  BANDANA_CHECK(context_norm > 0 && reward_bound > 0 && theta_norm >= 0 && shift_factor >= 0);
  const double shift = shift_factor * SymmetricNoiseNorm(d, level) * theta_norm;
  const double most = context_norm / reward_bound;
  const auto cost = [&](double w) {
    const double s = context_norm * context_norm + w * w * reward_bound * reward_bound;
    return s * (shift + BiasNoiseNorm(d, theta_norm, 1, 1 / w, level));
  };
  // Golden sections of ln w: the cost is steep on both sides of its valley.
  const double golden = (std::sqrt(5.0) - 1) / 2;
  double low = std::log(most) - 7;
  double high = std::log(most);
  double left = high - golden * (high - low);
  double right = low + golden * (high - low);
  double cost_left = cost(std::exp(left));
  double cost_right = cost(std::exp(right));
  while (high - low > 1e-3) {
    if (cost_left <= cost_right) {
      high = right;
      right = left;
      cost_right = cost_left;
      left = high - golden * (high - low);
      cost_left = cost(std::exp(left));
    } else {
      low = left;
      left = right;
      cost_left = cost_right;
      right = low + golden * (high - low);
      cost_right = cost(std::exp(right));
    }
  }
  return std::exp((low + high) / 2);
}

}  // namespace bandana
