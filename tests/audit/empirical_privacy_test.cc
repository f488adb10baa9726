#include "bandana/audit/empirical_privacy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "bandana/audit/clopper_pearson.h"

namespace bandana::audit {
namespace {

double Pmf(int k, int n, double p) {
  return std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) + k * std::log(p) +
                  (n - k) * std::log1p(-p));
}

TEST(EmpiricalPrivacyTest, FollowsItsFormula) {
  const EventCounts counts{.likely = 700, .unlikely = 200, .trials = 1000};
  const double p = LowerLimit(700, 1000, 1e-4);
  const double q = UpperLimit(200, 1000, 1e-4);
  EXPECT_DOUBLE_EQ(EpsilonLowerBound(counts, 0.1, 1e-4), std::log((p - 0.1) / q));
  EXPECT_DOUBLE_EQ(DeltaLowerBound(counts, 0.5, 1e-4), p - std::exp(0.5) * q);
}

TEST(EmpiricalPrivacyTest, NothingIsRefutedByNothing) {
  EXPECT_EQ(EpsilonLowerBound({0, 0, 1000}, 0.0, 1e-4), 0);
  EXPECT_EQ(EpsilonLowerBound({500, 500, 1000}, 0.0, 1e-4), 0);
  EXPECT_EQ(EpsilonLowerBound({100, 0, 1000}, 0.2, 1e-4), 0);  // delta may account for all of it
  EXPECT_EQ(DeltaLowerBound({500, 500, 1000}, 0.0, 1e-4), 0);
  EXPECT_EQ(DeltaLowerBound({500, 100, 1000}, std::numeric_limits<double>::infinity(), 1e-4), 0);
}

// The two bounds come from one inequality, so one of them refutes a claim exactly if the other does.
TEST(EmpiricalPrivacyTest, BothBoundsRefuteTheSameClaims) {
  for (const std::int64_t likely : {300, 500, 900}) {
    for (const std::int64_t unlikely : {0, 10, 200}) {
      const EventCounts counts{likely, unlikely, 1000};
      for (const double epsilon : {0.1, 0.7, 1.4, 3.0}) {
        for (const double delta : {0.001, 0.1, 0.3}) {
          EXPECT_EQ(EpsilonLowerBound(counts, delta, 1e-3) > epsilon,
                    DeltaLowerBound(counts, epsilon, 1e-3) > delta);
        }
      }
    }
  }
}

// Enumerates every outcome of randomized response: the bound exceeds the true epsilon at most as often as its
// level says.
TEST(EmpiricalPrivacyTest, CoversByEnumeration) {
  constexpr int kTrials = 40;
  constexpr double kLevel = 0.05;
  for (const double epsilon : {0.2, 1.0, 2.5}) {
    const double p = std::exp(epsilon) / (1 + std::exp(epsilon));
    double wrong = 0;
    for (int likely = 0; likely <= kTrials; ++likely) {
      for (int unlikely = 0; unlikely <= kTrials; ++unlikely) {
        if (EpsilonLowerBound({likely, unlikely, kTrials}, 0, kLevel) <= epsilon) continue;
        wrong += Pmf(likely, kTrials, p) * Pmf(unlikely, kTrials, 1 - p);
      }
    }
    EXPECT_LE(wrong, 2 * kLevel);
    EXPECT_GT(wrong, 0);
  }
}

}  // namespace
}  // namespace bandana::audit
