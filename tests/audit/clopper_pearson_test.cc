#include "bandana/audit/clopper_pearson.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace bandana::audit {
namespace {

double Pmf(int k, int n, double p) {
  return std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) + k * std::log(p) +
                  (n - k) * std::log1p(-p));
}

double AtLeast(int k, int n, double p) {
  double tail = 0;
  for (int i = k; i <= n; ++i) tail += Pmf(i, n, p);
  return tail;
}

TEST(ClopperPearsonTest, KnownValues) {
  // The two-sided 95 % interval for 5 of 10, from published tables.
  EXPECT_NEAR(LowerLimit(5, 10, 0.025), 0.187086, 1e-6);
  EXPECT_NEAR(UpperLimit(5, 10, 0.025), 0.812914, 1e-6);
  // The rule of three.
  EXPECT_NEAR(UpperLimit(0, 1000, 0.05), 3.0 / 1000, 1e-5);
}

TEST(ClopperPearsonTest, TheEndsHaveClosedForms) {
  for (const double level : {0.5, 0.01, 1e-7, 1e-12}) {
    for (const std::int64_t n : {1, 7, 1000, 10'000'000}) {
      EXPECT_EQ(LowerLimit(0, n, level), 0);
      EXPECT_EQ(UpperLimit(n, n, level), 1);
      const double root = std::log(level) / static_cast<double>(n);
      EXPECT_NEAR(UpperLimit(0, n, level), -std::expm1(root), 1e-12 * -std::expm1(root));
      EXPECT_NEAR(LowerLimit(n, n, level), std::exp(root), 1e-12);
    }
  }
}

// At the limit, seeing so many successes or more has exactly the probability `level`.
TEST(ClopperPearsonTest, LimitsSolveTheBinomialTail) {
  for (const double level : {0.2, 1e-3, 1e-8}) {
    for (const int n : {1, 4, 30, 200}) {
      for (int k = 1; k <= n; ++k) {
        const double low = LowerLimit(k, n, level);
        EXPECT_NEAR(AtLeast(k, n, low), level, 1e-9 * level) << k << " of " << n;
        EXPECT_NEAR(UpperLimit(n - k, n, level), 1 - low, 1e-12) << k << " of " << n;
      }
    }
  }
}

// Over every outcome and a fine grid of probabilities, a limit is wrong at most as often as its level says.
TEST(ClopperPearsonTest, CoversByEnumeration) {
  constexpr int kTrials = 25;
  for (const double level : {0.1, 0.01}) {
    double worst = 0;
    for (double p = 0.002; p < 1; p += 0.002) {
      double above = 0;
      double below = 0;
      for (int k = 0; k <= kTrials; ++k) {
        if (LowerLimit(k, kTrials, level) > p) above += Pmf(k, kTrials, p);
        if (UpperLimit(k, kTrials, level) < p) below += Pmf(k, kTrials, p);
      }
      EXPECT_LE(above, level * (1 + 1e-9));
      EXPECT_LE(below, level * (1 + 1e-9));
      worst = std::max({worst, above, below});
    }
    EXPECT_GT(worst, 0.9 * level) << "limits could be closer";
  }
}

TEST(ClopperPearsonDeathTest, NonsenseIsOurMistake) {
  EXPECT_DEATH(LowerLimit(-1, 10, 0.1), "check failed");
  EXPECT_DEATH(UpperLimit(11, 10, 0.1), "check failed");
  EXPECT_DEATH(LowerLimit(0, 0, 0.1), "check failed");
  EXPECT_DEATH(UpperLimit(1, 10, std::nan("")), "check failed");
}

}  // namespace
}  // namespace bandana::audit
