#include "bandana/privacy/calibration/binomial_law.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

namespace bandana {
namespace {

constexpr double kLogTwoPi = 1.8378770664093454836;
constexpr double kUlp = std::numeric_limits<double>::epsilon();

// Returns ln n! - ln(sqrt(2 pi n) (n/e)^n): by a table, then by Stirling's series. The error of the series is
// below the first omitted term (691/360360 n^-11).
double StirlingError(double n) {
  static const auto kSmall = [] {
    std::array<double, 24> table{};
    for (int i = 1; i < 24; ++i) {
      const long double x = i;
      table[i] = static_cast<double>(std::lgamma(x + 1) - (x + 0.5L) * std::log(x) + x -
                                     0.5L * std::log(2 * std::numbers::pi_v<long double>));
    }
    return table;
  }();
  if (n < 24) return kSmall[static_cast<std::size_t>(n)];
  const double y = 1 / (n * n);
  return (1. / 12 - y * (1. / 360 - y * (1. / 1260 - y * (1. / 1680 - y / 1188)))) / n;
}

// Sums the masses at x, x + step, .... Beyond the mode the rest after a term is at most that term times r/(1
// - r), where r is the ratio of the last two.
double Tail(std::int64_t x, std::int64_t step, std::int64_t n, double p) {
  double sum = 0;
  double term = BinomialMass(x, n, p);
  for (; x >= 0 && x <= n; x += step) {
    const double next = BinomialMass(x + step, n, p);
    sum += term;
    const double ratio = next / term;
    if (term == 0 || (ratio < 1 && next <= 1e-16 * (1 - ratio) * sum)) return sum * (1 + 1e-15);
    term = next;
  }
  return sum * (1 + 1e-15);
}

}  // namespace

double BinomialMass(std::int64_t x, std::int64_t n, double p) {
  if (x < 0 || x > n) return 0;
  const auto at = static_cast<double>(x);
  const auto trials = static_cast<double>(n);
  const double log_mass = LogBinomial(at, trials, p, 1 - p);
  return std::exp(log_mass + BinomialLogError(log_mass) + BinomialMeanError(at, trials, p));
}

double BinomialLowerTail(std::int64_t x, std::int64_t n, double p) { return Tail(x, -1, n, p); }
double BinomialUpperTail(std::int64_t x, std::int64_t n, double p) { return Tail(x, 1, n, p); }

double PoissonDeviance(double x, double mean) {
  if (x == 0) return mean;
  const double difference = x - mean;
  if (std::abs(difference) >= 0.1 * (x + mean)) return x * std::log(x / mean) - difference;
  // x ln((1 + v)/(1 - v)) - difference = difference v + 2 x (v^3/3 + v^5/5 + ...), v = difference/(x + mean).
  const double v = difference / (x + mean);
  const double square = v * v;
  double sum = difference * v;
  double power = 2 * x * v;
  for (int j = 1; j < 1000; ++j) {
    power *= square;
    const double next = sum + power / (2 * j + 1);
    if (next == sum) break;
    sum = next;
  }
  return sum;
}

double LogBinomial(double x, double n, double p, double q) {
  if (x == 0) return n == 0 ? 0 : n * (p < 0.5 ? std::log1p(-p) : std::log(q));
  if (x == n) return n * (q < 0.5 ? std::log1p(-q) : std::log(p));
  const double rest = n - x;
  return StirlingError(n) - StirlingError(x) - StirlingError(rest) - PoissonDeviance(x, n * p) -
         PoissonDeviance(rest, n * q) - 0.5 * (std::log(x / n * rest) + kLogTwoPi);
}

double BinomialLogError(double log_pmf) { return kUlp * (64 + 8 * std::abs(log_pmf)); }

double BinomialMeanError(double x, double n, double p) { return 8 * kUlp * std::abs(x - n * p); }

double LogBinomialTailBound(double x, double n, double p, double q) {
  return -PoissonDeviance(x, n * p) - PoissonDeviance(n - x, n * q);
}

}  // namespace bandana
