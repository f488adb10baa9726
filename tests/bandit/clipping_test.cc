#include "bandana/bandit/clipping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <optional>

namespace bandana {
namespace {

ClipRule Gaussian(double reward_sd, double client_sd, std::optional<double> fixed = std::nullopt) {
  return {.reward = {RewardKind::kGaussian, reward_sd}, .client_sd = client_sd, .fixed_bound = fixed};
}

TEST(ClipRuleTest, BoundedRewardsAreNotClipped) {
  for (const RewardKind kind : {RewardKind::kRademacher, RewardKind::kBernoulli, RewardKind::kUniform}) {
    const ClipRule rule{.reward = {kind}, .client_sd = 0.1, .fixed_bound = 3};
    EXPECT_FALSE(rule.clips());
    EXPECT_EQ(rule.BoundsFor(1), *rule.reward.support());
    EXPECT_EQ(rule.BoundsFor(1000), *rule.reward.support());
  }
}

TEST(ClipRuleTest, SpreadIsThatOfOneClientsAverage) {
  EXPECT_DOUBLE_EQ(Gaussian(0.8, 0).Spread(4), 0.4);
  EXPECT_DOUBLE_EQ(Gaussian(0.6, 0.4).Spread(4), 0.5);
  EXPECT_DOUBLE_EQ(Gaussian(0, 0.25).Spread(7), 0.25);
  EXPECT_DOUBLE_EQ(Gaussian(0.6, 0.4).RewardSpread(4), 0.3);
}

TEST(ClipRuleTest, AutoBoundIsOneAndThreeSpreads) {
  const ClipRule rule = Gaussian(0.6, 0.4);
  EXPECT_TRUE(rule.clips());
  EXPECT_DOUBLE_EQ(rule.BoundsFor(4).high, 2.5);
  EXPECT_DOUBLE_EQ(rule.BoundsFor(4).low, -2.5);
  EXPECT_LT(rule.BoundsFor(5).high, rule.BoundsFor(4).high);
  EXPECT_GT(rule.BoundsFor(1'000'000'000).high, 1 + 3 * 0.4 - 1e-9);
}

TEST(ClipRuleTest, FixedBoundIsTheSameForAnyNumberOfPulls) {
  const ClipRule rule = Gaussian(1, 0.1, 1.5);
  EXPECT_EQ(rule.BoundsFor(1), (Interval{-1.5, 1.5}));
  EXPECT_EQ(rule.BoundsFor(1'000'000), (Interval{-1.5, 1.5}));
}

// Computes E f(Z) by the trapezoidal rule, for f with a kink at `room`.
template <class Function>
double Expectation(double room, Function f) {
  constexpr double kStep = 1e-4;
  double sum = 0;
  for (double z = room; z < 40; z += kStep) {
    const double weight = z == room ? 0.5 : 1;
    sum += weight * kStep * f(z) * std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  }
  return sum;
}

TEST(ExcessTest, MeanIsTheIntegral) {
  for (const double room : {-3.0, -0.5, 0.0, 0.7, 2.0, 4.0}) {
    EXPECT_NEAR(MeanExcess(room), Expectation(room, [&](double z) { return z - room; }), 1e-8) << room;
  }
  EXPECT_NEAR(MeanExcess(0), 0.3989422804, 1e-10);
  EXPECT_EQ(MeanExcess(40), 0);
}

TEST(ExcessTest, MomentIsTheIntegral) {
  for (const double room : {-2.0, 0.0, 1.0, 3.0}) {
    for (const double m : {0.01, 0.5, 2.0, 6.0}) {
      const double excess = Expectation(room, [&](double z) { return std::expm1(m * (z - room)); });
      EXPECT_NEAR(LogExcessMoment(m, room) / std::log1p(excess), 1, 1e-6) << room << " " << m;
    }
  }
  EXPECT_EQ(LogExcessMoment(0, 1), 0);
  EXPECT_EQ(LogExcessMoment(1, 100), 0);
  EXPECT_NEAR(LogExcessMoment(1e-6, 1), 1e-6 * MeanExcess(1), 1e-11);
}

}  // namespace
}  // namespace bandana
