#include "bandana/privacy/calibration/binomial_law.h"

#include <boost/math/special_functions/gamma.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <tuple>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace bandana {
namespace {

using Real = boost::multiprecision::cpp_bin_float_50;

Real ExactLog(double x, double n, const Real& p, const Real& q) {
  using boost::math::lgamma;
  const auto log_choose = [](const Real& a, const Real& b) {
    return Real(lgamma(Real(a + 1)) - lgamma(Real(b + 1)) - lgamma(Real(a - b + 1)));
  };
  return log_choose(n, x) + Real(x) * log(p) + Real(n - x) * log(q);
}

class BinomialLaw : public testing::TestWithParam<std::tuple<double, double>> {};

// The test rounds exp(-rate) and 1 - exp(-rate) exactly as the users of the law do.
TEST_P(BinomialLaw, LogIsWithinItsErrorBound) {
  const auto [n, rate] = GetParam();
  const double p = std::exp(-rate);
  const double q = -std::expm1(-rate);
  const Real exact_p = exp(-Real(rate));
  const double mean = n * p;
  const double deviation = std::sqrt(mean * q);
  for (const double z : {-1e9, -30.0, -7.0, -1.0, -0.01, 0.0, 0.3, 2.0, 8.0, 40.0, 1e9}) {
    const double x = std::floor(std::fmin(n, std::fmax(0, mean + z * deviation)));
    const double computed = LogBinomial(x, n, p, q);
    const Real error = abs(computed - ExactLog(x, n, exact_p, 1 - exact_p));
    EXPECT_LE(static_cast<double>(error), BinomialLogError(computed) + BinomialMeanError(x, n, p)) << x;
  }
}

INSTANTIATE_TEST_SUITE_P(Grid, BinomialLaw,
                         testing::Combine(testing::Values(1, 2, 17, 23, 24, 1000, 1e6, 1e9, 1e12),
                                          testing::Values(1e-9, 0.01, 0.6931471805599453, 4, 20)));

TEST(BinomialLawTest, LogIsWithinItsErrorBoundForExactMeans) {
  for (const double p : {0.25, 0.5}) {
    for (const double n : {1.0, 7.0, 40.0, 1e3, 123457.0, 1e9, 1e14}) {
      for (const double z : {-20.0, -6.0, -1.0, 0.0, 0.5, 3.0, 9.0}) {
        const double x = std::floor(std::fmin(n, std::fmax(0, n * p + z * std::sqrt(n * p * (1 - p)))));
        const double computed = LogBinomial(x, n, p, 1 - p);
        const Real error = abs(computed - ExactLog(x, n, p, 1 - p));
        EXPECT_LE(static_cast<double>(error), BinomialLogError(computed)) << x << " of " << n << " at " << p;
      }
    }
  }
}

TEST(BinomialLawTest, SmallLawsByHand) {
  EXPECT_EQ(LogBinomial(0, 0, 0.3, 0.7), 0);
  EXPECT_NEAR(std::exp(LogBinomial(1, 2, 0.25, 0.75)), 0.375, 1e-15);
  EXPECT_NEAR(std::exp(LogBinomial(5, 5, 0.5, 0.5)), 1. / 32, 1e-17);
}

RC_GTEST_PROP(BinomialLawTest, TailBoundHolds, ()) {
  const int n = *rc::gen::inRange(1, 200);
  const double p = *rc::gen::inRange(1, 1000) / 1000.0;
  const int x = *rc::gen::inRange(0, n + 1);
  double tail = 0;
  for (int y = x; y >= 0 && y <= n; y += x >= n * p ? 1 : -1) tail += std::exp(LogBinomial(y, n, p, 1 - p));
  RC_ASSERT(std::log(tail) <= LogBinomialTailBound(x, n, p, 1 - p) + 1e-12);
}

}  // namespace
}  // namespace bandana
