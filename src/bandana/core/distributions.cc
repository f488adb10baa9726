#include "bandana/core/distributions.h"

#include <numbers>

namespace bandana::internal {
namespace {

// The compiler computes the tables, so that they do not depend on the mathematical library.
using Real = long double;

consteval Real Exp(Real x) {
  int halvings = 0;
  for (; x < -0.25L || x > 0.25L; x /= 2) ++halvings;
  Real sum = 1;
  Real term = 1;
  for (int i = 1; i <= 20; ++i) sum += term *= x / i;
  for (; halvings > 0; --halvings) sum *= sum;
  return sum;
}

consteval Real Log(Real x) {
  Real y = 0;
  for (int i = 0; i < 20; ++i) y += x * Exp(-y) - 1;
  return y;
}

consteval Real Sqrt(Real x) {
  Real y = x > 1 ? x : 1;
  for (int i = 0; i < 20; ++i) y = (y + x / y) / 2;
  return y;
}

// Returns the integral of exp(-t^2/2) over t > x, divided by exp(-x^2/2). Laplace's continued fraction: 1/(x
// + 1/(x + 2/(x + ...))).
consteval Real MillsRatio(Real x) {
  Real value = x;
  for (int i = 400; i > 0; --i) value = x + i / value;
  return 1 / value;
}

struct NormalShape {
  // The start of the tail in a ziggurat of 256 layers: the value for which the topmost layer ends at height
  // 1.
  static constexpr Real kTailStart = 3.6541528853610087963519472518L;
  static consteval Real Density(Real x) { return Exp(-x * x / 2); }
  static consteval Real Inverse(Real y) { return Sqrt(-2 * Log(y)); }
  static consteval Real TailOverDensity() { return MillsRatio(kTailStart); }
};

struct ExponentialShape {
  static constexpr Real kTailStart = 7.6971174701310497140446280480L;
  static consteval Real Density(Real x) { return Exp(-x); }
  static consteval Real Inverse(Real y) { return -Log(y); }
  static consteval Real TailOverDensity() { return 1; }
};

template <class Shape>
consteval ZigguratTable MakeZiggurat() {
  Real x = Shape::kTailStart;
  Real y = Shape::Density(x);
  const Real area = (x + Shape::TailOverDensity()) * y;
  ZigguratTable table{};
  table.x[0] = static_cast<double>(area / y);
  for (int i = 1; i < 256; ++i) {
    table.x[i] = static_cast<double>(x);
    table.y[i] = static_cast<double>(y);
    y += area / x;
    if (i < 255) x = Shape::Inverse(y);
  }
  table.x[256] = 0;
  table.y[256] = 1;
  return table;
}

// Defined by ln k! = (k + 1/2) ln k - k + ln sqrt(2 pi) + StirlingTail(k), k >= 1.
double StirlingTail(double k) {
  static constexpr std::array<double, 16> kSmall = {
      0,
      0.08106146679532725822,
      0.04134069595540929409,
      0.02767792568499833915,
      0.02079067210376509311,
      0.01664469118982119216,
      0.01387612882307074800,
      0.01189670994589177010,
      0.01041126526197209650,
      0.00925546218271273292,
      0.00833056343336287126,
      0.00757367548795184079,
      0.00694284010720952987,
      0.00640899418800420707,
      0.00595137011275884774,
      0.00555473355196280137,
  };
  if (k < 16) return kSmall[static_cast<std::size_t>(k)];
  const double s = 1 / (k * k);
  return (1. / 12 - (1. / 360 - (1. / 1260 - (1. / 1680 - s / 1188) * s) * s) * s) / k;
}

// Returns x ln(x/y) + y - x for x = y + shift > 0. There is no cancellation for x near y: with v = shift/(x +
// y), ln(x/y) = 2 atanh(v) and 2 x v - shift = shift v. C. Loader, "Fast and accurate computation of binomial
// probabilities", 2000.
double Deviance(double shift, double y) {
  const double x = y + shift;
  const double v = shift / (x + y);
  if (std::abs(v) > 0.1) return x * std::log(x / y) - shift;
  double sum = 0;
  double power = v;
  for (int odd = 3; odd <= 19; odd += 2) sum += (power *= v * v) / odd;
  return shift * v + 2 * x * sum;
}

struct ExactMean {
  std::int64_t whole;
  double fraction;
};

// Returns n p exactly up to the fraction's rounding. A double is an integer of 53 bits divided by a power of
// two, so the product fits 128 bits.
ExactMean Mean(std::int64_t n, double p) {
  int exponent = 0;
  const auto significand = static_cast<std::uint64_t>(std::ldexp(std::frexp(p, &exponent), 53));
  const int shift = 53 - exponent;
  BANDANA_CHECK(shift >= 53 && shift < 128);
  const unsigned __int128 product = static_cast<unsigned __int128>(n) * significand;
  const unsigned __int128 whole = product >> shift;
  return {static_cast<std::int64_t>(whole),
          std::ldexp(static_cast<double>(product - (whole << shift)), -shift)};
}

}  // namespace

constinit const ZigguratTable kZiggurat = MakeZiggurat<NormalShape>();
constinit const ZigguratTable kLaplaceZiggurat = MakeZiggurat<ExponentialShape>();

BinomialRejection::BinomialRejection(std::int64_t n, double p) : n_(n), p_(p) {
  BANDANA_CHECK(p <= 0.5 && static_cast<double>(n) * p >= 10);
  const ExactMean mean = Mean(n, p);
  const bool above = mean.fraction + p >= 1;  // whether floor((n + 1) p) exceeds floor(n p)
  mode_ = mean.whole + (above ? 1 : 0);
  mean_from_mode_ = mean.fraction - (above ? 1 : 0);
  lowest_ = -static_cast<double>(mode_);
  highest_ = static_cast<double>(n - mode_);
  const double stddev = std::sqrt(static_cast<double>(n) * p * (1 - p));
  b_ = 1.15 + 2.53 * stddev;
  a_ = -0.0873 + 0.0248 * b_ + 0.01 * p;
  alpha_ = (2.83 + 5.1 / b_) * stddev;
  v_r_ = 0.92 - 4.2 / b_;
}

// Uses Stirling's formula for the three factorials. Differences of terms of order n ln n would lose
// precision. They are gathered in two deviances, which are non-negative and of the order of the answer.
double BinomialRejection::LogPmf(double step) const {
  const double n = static_cast<double>(n_);
  const double successes = step - lowest_;
  const double failures = highest_ - step;
  if (successes == 0) return n * std::log1p(-p_);
  if (failures == 0) return n * std::log(p_);
  const double shift = step - mean_from_mode_;
  return StirlingTail(n) - StirlingTail(successes) - StirlingTail(failures) -
         Deviance(shift, mean_from_mode_ - lowest_) - Deviance(-shift, highest_ - mean_from_mode_) -
         0.5 * std::log(2 * std::numbers::pi * successes * (failures / n));
}

}  // namespace bandana::internal
