#include "bandana/bandit/off_policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "bandana/core/distributions.h"
#include "bandana/core/status.h"
#include "tests/support.h"

namespace bandana {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// x is uniform on [-1, 1]; there are three actions with rewards 0 or 1 of mean b + s x. All laws are linear
// in x.
constexpr double kMean[3][2] = {{0.3, 0.2}, {0.5, -0.3}, {0.6, 0.3}};
constexpr double kLogging[3][2] = {{0.4, 0.2}, {0.3, -0.1}, {0.3, -0.1}};
constexpr double kTarget[3][2] = {{0.1, 0}, {0.6, 0.3}, {0.3, -0.3}};
constexpr double kWeightBound = 4.5;  // the largest weight: 0.9 / 0.2

double At(const double (&law)[2], double x) { return law[0] + law[1] * x; }

// Uses E x = 0 and E x^2 = 1/3.
double TrueValue() {
  double value = 0;
  for (int a = 0; a < 3; ++a) value += kTarget[a][0] * kMean[a][0] + kTarget[a][1] * kMean[a][1] / 3;
  return value;
}

void Target(const ContextView& context, Eigen::Ref<Vector> probabilities) {
  for (int a = 0; a < 3; ++a) probabilities[a] = At(kTarget[a], context[0]);
}
double TrueModel(const ContextView& context, ArmId action) { return At(kMean[action], context[0]); }
double WrongModel(const ContextView& context, ArmId action) { return 0.5 + 0.4 * context[0] * (action - 1); }

LoggedData DrawLog(Count rounds, CoinGen& coin) {
  LoggedData::Params log{.num_actions = 3, .dimension = 1};
  for (Count t = 0; t < rounds; ++t) {
    const double x = 2 * UniformUnit(coin) - 1;
    const double u = UniformUnit(coin);
    const ArmId a = u < At(kLogging[0], x) ? 0 : u < At(kLogging[0], x) + At(kLogging[1], x) ? 1 : 2;
    log.contexts.push_back(x);
    log.actions.push_back(a);
    log.rewards.push_back(UniformUnit(coin) < At(kMean[a], x) ? 1 : 0);
    log.pscores.push_back(At(kLogging[a], x));
  }
  return *LoggedData::Create(std::move(log));
}

const OffPolicyOptions kOptions{.rewards = {0, 1}, .level = 0.1, .weight_bound = kWeightBound};

std::map<std::string, absl::StatusOr<ValueEstimate>> AllEstimates(const LoggedData& log) {
  return {{"ips", InversePropensity(log, Target, kOptions)},
          {"snips", SelfNormalised(log, Target, kOptions)},
          {"dm, true model", DirectMethod(log, Target, TrueModel, kOptions)},
          {"dm, wrong model", DirectMethod(log, Target, WrongModel, kOptions)},
          {"dm, ridge", CrossFittedDirectMethod(log, Target, 1, kOptions)},
          {"dr, true model", DoublyRobust(log, Target, TrueModel, kOptions)},
          {"dr, wrong model", DoublyRobust(log, Target, WrongModel, kOptions)},
          {"dr, ridge", CrossFittedDoublyRobust(log, Target, 1, kOptions)}};
}

// The results on 400 logs of 300 rounds each.
struct Runs {
  std::map<std::string, std::vector<double>> values;
  std::map<std::string, double> normal_misses, bernstein_misses, mean_variance;
  static constexpr int kLogs = 400;
};
const Runs& SharedRuns() {
  static const Runs runs = [] {
    Runs made;
    test::Coins coins(81);
    const double truth = TrueValue();
    for (int i = 0; i < Runs::kLogs; ++i) {
      for (const auto& [name, estimate] : AllEstimates(DrawLog(300, coins.gen))) {
        EXPECT_TRUE(estimate.ok()) << estimate.status();
        const auto misses = [&](Interval interval) {
          return truth < interval.low || truth > interval.high ? 1.0 : 0.0;
        };
        made.values[name].push_back(estimate->value);
        made.normal_misses[name] += misses(estimate->normal);
        made.bernstein_misses[name] += misses(*estimate->bernstein);
        made.mean_variance[name] += estimate->standard_error * estimate->standard_error / Runs::kLogs;
      }
    }
    return made;
  }();
  return runs;
}

// 4 standard errors are a false alarm in 16 000. The wrong model is the planted violation that must be
// caught.
TEST(OffPolicyTest, Unbiased) {
  for (const auto& [name, values] : SharedRuns().values) {
    const test::Moments moments = test::MomentsOf(values);
    const double error = std::abs(moments.mean - TrueValue());
    const double standard_error = std::sqrt(moments.variance / Runs::kLogs);
    if (name == "dm, wrong model") {
      EXPECT_GT(error, 10 * standard_error);
    } else if (name == "snips" || name == "dm, ridge") {  // biased by O(1/n)
      EXPECT_LT(error, 4 * standard_error + 0.01) << name;
    } else {
      EXPECT_LT(error, 4 * standard_error) << name;
    }
  }
}

TEST(OffPolicyTest, StandardErrorsAreRight) {
  for (const auto& [name, values] : SharedRuns().values) {
    if (name == "dm, ridge") continue;  // it knows nothing of the model's error
    const double ratio = SharedRuns().mean_variance.at(name) / test::MomentsOf(values).variance;
    EXPECT_NEAR(ratio, 1, 0.3) << name;  // 4 standard deviations of a variance from 400 runs: 0.28
  }
}

// Binomial(400, 0.1) is above 66 with probability 3e-5 and below 17 with probability 1e-5.
TEST(OffPolicyTest, IntervalsCover) {
  for (const auto& [name, values] : SharedRuns().values) {
    if (name.starts_with("dm")) continue;
    EXPECT_LE(SharedRuns().normal_misses.at(name), 66) << name;
    EXPECT_GE(SharedRuns().normal_misses.at(name), 17) << name;
    EXPECT_LE(SharedRuns().bernstein_misses.at(name), 66) << name;
  }
  EXPECT_GT(SharedRuns().normal_misses.at("dm, wrong model"), 100);
}

// Computes variances of one round's term by Simpson's rule over x. For IPS it is E w^2 r^2 - V^2; for the
// doubly robust estimate with the true model it is E w^2 (r - q)^2 + Var sum pi q.
TEST(OffPolicyTest, GoodModelsHelp) {
  double ips = 0, robust = 0;
  constexpr int kSteps = 1000;
  for (int i = 0; i <= kSteps; ++i) {
    const double x = -1 + 2.0 * i / kSteps;
    const double part = (i == 0 || i == kSteps ? 1.0 : i % 2 == 1 ? 4.0 : 2.0) / (3 * kSteps);
    double direct = 0;
    for (int a = 0; a < 3; ++a) {
      const double mean = At(kMean[a], x);
      const double square = At(kTarget[a], x) * At(kTarget[a], x) / At(kLogging[a], x);  // E w^2 of action a
      ips += part * square * mean;
      robust += part * square * mean * (1 - mean);
      direct += At(kTarget[a], x) * mean;
    }
    robust += part * direct * direct;
  }
  ips -= TrueValue() * TrueValue();
  robust -= TrueValue() * TrueValue();
  const auto variance = [](const char* name) {
    return 300 * test::MomentsOf(SharedRuns().values.at(name)).variance;
  };
  EXPECT_NEAR(variance("ips") / ips, 1, 0.28);  // 4 standard deviations
  EXPECT_NEAR(variance("dr, true model") / robust, 1, 0.28);
  EXPECT_LT(variance("dr, true model"), 0.95 * variance("ips"));
  EXPECT_LT(variance("dr, ridge"), 0.95 * variance("ips"));
  EXPECT_LT(variance("dr, true model"), variance("dr, wrong model"));
}

// In each pair of rounds, action 0 with pscore 1/2 has reward 1, and action 1 with pscore 1/4 has reward 0.
LoggedData Pairs(int pairs) {
  LoggedData::Params log{.num_actions = 2, .dimension = 1};
  for (int i = 0; i < pairs; ++i) {
    for (const double number : {1.0, 2.0}) log.contexts.push_back(number);
    for (const ArmId action : {0, 1}) log.actions.push_back(action);
    for (const double reward : {1.0, 0.0}) log.rewards.push_back(reward);
    for (const double pscore : {0.5, 0.25}) log.pscores.push_back(pscore);
  }
  return *LoggedData::Create(std::move(log));
}
void Even(const ContextView&, Eigen::Ref<Vector> probabilities) { probabilities.setConstant(0.5); }
double Guess(const ContextView&, ArmId action) { return action == 0 ? 0.5 : 0.25; }

TEST(OffPolicyTest, TwoRoundsByHand) {
  const LoggedData log = Pairs(1);  // the weights are 1 and 2
  const OffPolicyOptions options{.rewards = {0, 1}, .level = 0.5};
  const auto ips = InversePropensity(log, Even, options);
  EXPECT_DOUBLE_EQ(ips->value, 0.5);
  EXPECT_DOUBLE_EQ(ips->standard_error, 0.5);
  EXPECT_NEAR(ips->normal.low, 0.5 - 0.5 * 0.674489750196, 1e-11);
  EXPECT_NEAR(ips->normal.high, 0.5 + 0.5 * 0.674489750196, 1e-11);
  EXPECT_FALSE(ips->bernstein.has_value());
  EXPECT_DOUBLE_EQ(ips->effective_sample_size, 9.0 / 5);
  EXPECT_EQ(ips->largest_weight, 2);

  const auto snips = SelfNormalised(log, Even, options);
  EXPECT_DOUBLE_EQ(snips->value, 1.0 / 3);
  EXPECT_DOUBLE_EQ(snips->standard_error, std::sqrt(8.0 / 9) / 3);
  EXPECT_EQ(snips->normal.low, std::max(0.0, snips->normal.low));

  const auto direct = DirectMethod(log, Even, Guess, options);
  EXPECT_DOUBLE_EQ(direct->value, 0.375);
  EXPECT_EQ(direct->standard_error, 0);

  const auto robust = DoublyRobust(log, Even, Guess, options);
  EXPECT_DOUBLE_EQ(robust->value, ((0.375 + 1 * 0.5) + (0.375 - 2 * 0.25)) / 2);
  EXPECT_DOUBLE_EQ(robust->standard_error, 0.5);
}

TEST(OffPolicyTest, BernsteinByHand) {
  const LoggedData log = Pairs(500);
  const OffPolicyOptions options{.rewards = {-1, 1}, .level = 0.05, .weight_bound = 2};
  const double ln = std::log(2 / 0.025);
  const double n = 1000;
  const auto width = [&](double variance, double range) {
    return std::sqrt(2 * variance * ln / n) + 7 * range * ln / (3 * (n - 1));
  };
  const double variance = 0.25 * n / (n - 1);
  const auto ips = InversePropensity(log, Even, options);
  EXPECT_NEAR(ips->bernstein->low, 0.5 - width(variance, 4), 1e-12);
  EXPECT_NEAR(ips->bernstein->high, 0.5 + width(variance, 4), 1e-12);
  const auto robust = DoublyRobust(log, Even, Guess, options);
  EXPECT_NEAR(robust->bernstein->high, 0.375 + width(variance, 10), 1e-12);
  EXPECT_NEAR(DirectMethod(log, Even, Guess, options)->bernstein->high, 0.375 + width(0, 2), 1e-12);

  // The self-normalised interval from its definition: w (r - v) is 1 - v or -2 v, each half of the time.
  const auto inside = [&](double v) {
    const double spread = (1 - v + 2 * v) / 2;
    return std::abs((1 - v - 2 * v) / 2) <= width(spread * spread * n / (n - 1), 4);
  };
  const Interval bounds = *SelfNormalised(log, Even, options)->bernstein;
  for (double v = -1; v <= 1; v += 1e-4) {
    if (std::min(std::abs(v - bounds.low), std::abs(v - bounds.high)) < 1e-9) continue;
    EXPECT_EQ(inside(v), v >= bounds.low && v <= bounds.high) << v;
  }
  EXPECT_GT(bounds.low, -1);
  EXPECT_LT(bounds.high, 1);
}

TEST(OffPolicyTest, IntervalsAreCutToTheRewards) {
  const LoggedData log = Pairs(1);
  for (const auto& estimate :
       {InversePropensity(log, Even, {.rewards = {0, 1}, .level = 1e-9, .weight_bound = 2}),
        SelfNormalised(log, Even, {.rewards = {0, 1}, .level = 1e-9, .weight_bound = 2})}) {
    EXPECT_EQ(estimate->normal, (Interval{0, 1}));
    EXPECT_EQ(*estimate->bernstein, (Interval{0, 1}));
  }
}

TEST(OffPolicyTest, PoliciesTheLogDoesNotOverlap) {
  LoggedData::Params params{.num_actions = 3,
                            .dimension = 1,
                            .contexts = {0, 0},
                            .actions = {0, 1},
                            .rewards = {1, 1},
                            .pscores = {0.5, 0.5}};
  const LoggedData log = *LoggedData::Create(std::move(params));
  const auto third = [](const ContextView&, Eigen::Ref<Vector> p) { p = Eigen::Vector3d(0, 0, 1); };
  const auto ips = InversePropensity(log, third, kOptions);
  EXPECT_EQ(ips->value, 0);
  EXPECT_EQ(ips->effective_sample_size, 0);
  EXPECT_EQ(InputErrorOf(SelfNormalised(log, third, kOptions).status())->key, "policy");
}

TEST(RidgeRewardsTest, IsRidgeRegressionOfEachAction) {
  test::Coins coins(82);
  const LoggedData log = DrawLog(50, coins.gen);
  std::vector<Count> rounds;
  for (Count t = 0; t < log.rounds(); t += 2) rounds.push_back(t);
  constexpr double kPenalty = 0.7;
  const auto model = RidgeRewards::Fit(log, rounds, kPenalty, {0, 1});
  for (ArmId a = 0; a < 3; ++a) {
    double n = 0, x = 0, r = 0, xx = 0, xr = 0;
    for (const Count t : rounds) {
      if (log.action(t) != a) continue;
      const double context = log.context(t)[0];
      n += 1;
      x += context;
      r += log.reward(t);
      xx += context * context;
      xr += context * log.reward(t);
    }
    ASSERT_GT(n, 2);
    const double slope = (xr - x * r / n) / (xx - x * x / n + kPenalty);
    for (Count t = 0; t < log.rounds(); ++t) {
      const double expected = r / n + slope * (log.context(t)[0] - x / n);
      EXPECT_NEAR((*model)(log.context(t), a), std::clamp(expected, 0.0, 1.0), 1e-12);
    }
  }
}

TEST(RidgeRewardsTest, ActionsNeverPlayedGetTheMean) {
  LoggedData::Params params{.num_actions = 2,
                            .dimension = 1,
                            .contexts = {1, -1},
                            .actions = {0, 0},
                            .rewards = {1, 0.5},
                            .pscores = {1, 1}};
  const LoggedData log = *LoggedData::Create(std::move(params));
  const std::vector<Count> rounds = {0, 1};
  EXPECT_DOUBLE_EQ((*RidgeRewards::Fit(log, rounds, 1, {0, 1}))(log.context(0), 1), 0.75);
  for (const double bad : {0.0, -1.0, kNan, double{INFINITY}}) {
    EXPECT_EQ(InputErrorOf(RidgeRewards::Fit(log, rounds, bad, {0, 1}).status())->key, "penalty");
  }
}

// Each half is estimated with the other half's model, and the result is the mean of both.
TEST(OffPolicyTest, CrossFittingSwapsTheHalves) {
  test::Coins coins(83);
  const LoggedData log = DrawLog(101, coins.gen);
  std::vector<Count> halves[2];
  for (Count t = 0; t < log.rounds(); ++t) halves[t % 2].push_back(t);
  double sum = 0;
  for (int half = 0; half < 2; ++half) {
    const auto model = RidgeRewards::Fit(log, halves[1 - half], 0.5, {0, 1});
    for (const Count t : halves[half]) {
      const double x = log.context(t)[0];
      for (ArmId a = 0; a < 3; ++a) sum += At(kTarget[a], x) * (*model)(log.context(t), a);
      sum += At(kTarget[log.action(t)], x) / log.pscore(t) *
             (log.reward(t) - (*model)(log.context(t), log.action(t)));
    }
  }
  EXPECT_NEAR(CrossFittedDoublyRobust(log, Target, 0.5, kOptions)->value, sum / 101, 1e-12);
}

TEST(OffPolicyTest, WhatCannotBeIsRefused) {
  const LoggedData log = Pairs(2);
  const auto key = [&](const OffPolicyOptions& options, const StochasticPolicy& policy = Even,
                       const RewardEstimate& model = Guess) {
    const auto estimate = DoublyRobust(log, policy, model, options);
    return estimate.ok() ? "" : InputErrorOf(estimate.status()).value_or(InputError{}).key;
  };
  const OffPolicyOptions good{.rewards = {0, 1}, .level = 0.05, .weight_bound = 2};
  EXPECT_EQ(key(good), "");
  for (const Interval bad : {Interval{1, 0}, {0, 0}, {0, kNan}, {-INFINITY, 1}, {-1e308, 1e308}}) {
    EXPECT_EQ(key({.rewards = bad, .level = 0.05}), "rewards");
  }
  for (const double bad : {0.0, 1.0, -0.1, kNan}) {
    EXPECT_EQ(key({.rewards = {0, 1}, .level = bad}), "level");
  }
  for (const double bad : {0.0, 1.9, kNan, double{INFINITY}}) {
    EXPECT_EQ(key({.rewards = {0, 1}, .level = 0.05, .weight_bound = bad}), "weight_bound");
  }
  EXPECT_EQ(key({.rewards = {0, 0.5}, .level = 0.05}), "reward");
  for (const Eigen::Vector2d& bad : {Eigen::Vector2d(0.5, 0.6), {1.5, -0.5}, {kNan, 0.5}, {0.5, kNan}}) {
    EXPECT_EQ(key(good, [&](const ContextView&, Eigen::Ref<Vector> p) { p = bad; }), "policy");
  }
  for (const double bad : {-0.1, 1.1, kNan}) {
    EXPECT_EQ(key(good, Even, [&](const ContextView&, ArmId) { return bad; }), "model");
  }
  LoggedData::Params one{
      .num_actions = 1, .dimension = 1, .contexts = {0}, .actions = {0}, .rewards = {0}, .pscores = {1}};
  const auto certain = [](const ContextView&, Eigen::Ref<Vector> p) { p.setOnes(); };
  EXPECT_EQ(InputErrorOf(InversePropensity(*LoggedData::Create(one), certain, good).status())->key, "log");
  EXPECT_EQ(InputErrorOf(CrossFittedDoublyRobust(Pairs(1), Even, 1, good).status())->key, "log");
}

}  // namespace
}  // namespace bandana
