#include "bandana/bandit/clipping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "bandana/core/distributions.h"
#include "tests/support.h"

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
    const std::vector<Pull> pulls = {{0, 1}, {1, 100}};
    EXPECT_EQ(ClipExcess(rule, pulls, 5.0), 0);
  }
}

TEST(ClipRuleTest, SpreadIsThatOfOneClientsAverage) {
  EXPECT_DOUBLE_EQ(Gaussian(0.8, 0).Spread(4), 0.4);
  EXPECT_DOUBLE_EQ(Gaussian(0.6, 0.4).Spread(4), 0.5);
  EXPECT_DOUBLE_EQ(Gaussian(0, 0.25).Spread(7), 0.25);
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

TEST(ClipExcessTest, GrowsWithConfidenceAndShrinksWithRoom) {
  const std::vector<Pull> pulls = {{0, 3}, {1, 20}};
  double last = 0;
  for (const double log_inverse : {1e-6, 1e-4, 1e-2, 0.1, 1.0, 10.0}) {
    const double excess = ClipExcess(Gaussian(1, 0.1), pulls, log_inverse);
    EXPECT_GT(excess, last) << log_inverse;
    last = excess;
  }
  last = std::numeric_limits<double>::infinity();
  for (const double bound : {1.0, 1.2, 1.5, 2.0, 4.0}) {
    const double excess = ClipExcess(Gaussian(1, 0.1, bound), pulls, 0.01);
    EXPECT_LT(excess, last) << bound;
    last = excess;
  }
}

TEST(ClipExcessTest, IsFiniteAtTheExtremes) {
  const std::vector<Pull> pulls = {{0, 1}, {1, 1'000'000'000}};
  for (const ClipRule& rule : {Gaussian(1, 0), Gaussian(1, 0, 1.0), Gaussian(1e-6, 0, 1e6), Gaussian(1e3, 1e3),
                               Gaussian(0, 0), Gaussian(0, 1)}) {
    for (const double log_inverse : {1e-9, 1.0, 700.0}) {
      const double excess = ClipExcess(rule, pulls, log_inverse);
      EXPECT_TRUE(std::isfinite(excess) && excess >= 0) << excess;
    }
  }
}

// With no room and many clients the excess is its mean, E max(Z, 0) = 0.39894 spreads.
TEST(ClipExcessTest, TendsToTheMeanExcess) {
  const std::vector<Pull> pulls = {{0, 1}};
  const double excess = ClipExcess(Gaussian(0.01, 0, 1.0), pulls, 1e-5);
  EXPECT_GT(excess, 0.39894);
  EXPECT_LT(excess, 0.41);
}

struct Trial {
  ClipRule rule;
  int clients;
  double level;
};

// How often the clients' average excess, at the worst mean and with weights that add up, passes `factor` times the bound.
double Exceedances(const Trial& trial, double factor, std::uint64_t seed, int runs) {
  const std::vector<Pull> pulls = {{0, 2}, {1, 9}, {2, 30}};
  const std::vector<double> weights = {0.5, -1.5, 1};
  const double w = factor * ClipExcess(trial.rule, pulls, std::log(1 / trial.level) / trial.clients);
  double allowed = 0;
  for (std::size_t i = 0; i < pulls.size(); ++i) allowed += w * std::abs(weights[i]) * trial.rule.Spread(pulls[i].count);
  test::Coins coins(seed);
  int exceeded = 0;
  for (int run = 0; run < runs; ++run) {
    double moved = 0;
    for (int client = 0; client < trial.clients; ++client) {
      const double common = trial.rule.client_sd * StandardNormal(coins.gen);  // of xi, along every action
      for (std::size_t i = 0; i < pulls.size(); ++i) {
        const double sign = weights[i] > 0 ? 1 : -1;
        const double noise = trial.rule.reward.sd / std::sqrt(static_cast<double>(pulls[i].count));
        const double average = sign * (1 + common) + noise * StandardNormal(coins.gen);
        const Interval bounds = trial.rule.BoundsFor(pulls[i].count);
        moved += weights[i] * (average - std::clamp(average, bounds.low, bounds.high)) / trial.clients;
      }
    }
    exceeded += std::abs(moved) > allowed;
  }
  return static_cast<double>(exceeded) / runs;
}

std::vector<Trial> Trials() {
  std::vector<Trial> trials;
  for (const ClipRule& rule : {Gaussian(1, 0), Gaussian(1, 0.5), Gaussian(0.1, 0.5), Gaussian(1, 0, 1.0),
                               Gaussian(0.1, 0.5, 1.0), Gaussian(1, 0.3, 1.4)}) {
    for (const int clients : {1, 5, 60}) {
      for (const double level : {0.3, 0.03}) trials.push_back({rule, clients, level});
    }
  }
  return trials;
}

// Five standard deviations above the level: a valid bound fails one of these 36 trials with probability below 1e-5 over
// seeds.
TEST(ClipExcessTest, IsExceededNoMoreOftenThanTheLevel) {
  constexpr int kRuns = 5000;
  std::uint64_t seed = 1;
  for (const Trial& trial : Trials()) {
    const double rate = Exceedances(trial, 1, ++seed, kRuns);
    EXPECT_LE(rate, trial.level + 5 * std::sqrt(trial.level * (1 - trial.level) / kRuns))
        << trial.clients << " clients, level " << trial.level << ", sd " << trial.rule.reward.sd << ", client sd "
        << trial.rule.client_sd;
  }
}

TEST(ClipExcessTest, HalfOfItIsExceededTooOften) {
  constexpr int kRuns = 5000;
  for (const ClipRule& rule : {Gaussian(0.1, 0.5, 1.0), Gaussian(0.5, 0.5, 1.0)}) {
    EXPECT_GT(Exceedances({rule, 60, 0.03}, 0.5, 99, kRuns), 0.06);
  }
}

}  // namespace
}  // namespace bandana
