#include "bandana/privacy/accounting/binomial_pmf.h"

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "bandana/core/check.h"

namespace bandana {
namespace {

// ln n! - ln(sqrt(2 pi n) (n/e)^n).
double StirlingError(std::int64_t n) {
  static const auto kSmall = [] {
    std::array<double, 16> table{};
    for (int i = 1; i < 16; ++i) {
      const long double x = i;
      table[i] = static_cast<double>(std::lgamma(x + 1) - (x + 0.5L) * std::log(x) + x -
                                     0.5L * std::log(2 * std::numbers::pi_v<long double>));
    }
    return table;
  }();
  if (n < 16) return kSmall[n];
  const double x = static_cast<double>(n);
  const double y = 1 / (x * x);
  return (1. / 12 -
          y * (1. / 360 - y * (1. / 1260 - y * (1. / 1680 - y * (1. / 1188 - y * (691. / 360360)))))) /
         x;
}

// x ln(x/m) + m - x, the deviance, without cancellation near x = m.
double Deviance(double x, double m) {
  const double difference = x - m;
  if (std::abs(difference) < 0.5 * (x + m)) {
    const double v = difference / (x + m);
    double sum = difference * v;
    double term = 2 * x * v;
    const double square = v * v;
    for (int i = 1; i < 1000; ++i) {
      term *= square;
      const double next = sum + term / (2 * i + 1);
      if (next == sum) break;
      sum = next;
    }
    return sum;
  }
  return x * std::log(x / m) + m - x;
}

}  // namespace

double LogBinomialPmf(std::int64_t x, std::int64_t n, double p) {
  BANDANA_CHECK(n >= 0 && p > 0 && p < 1);
  if (x < 0 || x > n) return -std::numeric_limits<double>::infinity();
  const double count = static_cast<double>(n);
  if (x == 0) return count * std::log1p(-p);
  if (x == n) return count * std::log(p);
  const double hits = static_cast<double>(x);
  const double misses = static_cast<double>(n - x);
  return StirlingError(n) - StirlingError(x) - StirlingError(n - x) - Deviance(hits, count * p) -
         Deviance(misses, count * (1 - p)) - 0.5 * std::log(2 * std::numbers::pi * hits * (misses / count));
}

}  // namespace bandana
