#include "bandana/algorithms/users/user_regression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/algorithms/user_support.h"
#include "tests/support.h"

// Seeds are fixed.
namespace bandana {
namespace {

using test::HandUser;
using test::PlayRound;
using ::testing::HasSubstr;

UserRegressionRules Rules(Count dimension, Count arms, Count horizon) {
  return {.shape = {.horizon = horizon, .dimension = dimension, .arms = arms}, .shift = {.scale = 2}};
}

UserRegressionRules MultiRules(Count dimension, Count arms, Count horizon, Count warm_up) {
  UserRegressionRules rules = Rules(dimension, arms, horizon);
  rules.shape.multi = true;
  rules.shape.warm_up = warm_up;
  rules.shape.elimination_gap = 100;
  return rules;
}

void ExpectTheta(const UserPolicy& policy, Count slot, const Vector& expected) {
  for (Eigen::Index i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(policy.theta(slot)[static_cast<std::size_t>(i)], expected[i], 1e-10);
  }
}

TEST(LdpOlsTest, WithoutPrivacyItIsRidgeRegressionAfterEveryRound) {
  test::Coins coins(1);
  HandUser user(1);
  for (const Count d : {1, 3, 8}) {
    LdpOls learner = LdpOls::Create(Rules(d, 4, 60), test::Reporter({.dimension = d})).value();
    test::WrittenRounds world(test::RandomRounds(60, 4, d, false, coins.gen), false);
    auto device = learner.MakeDevice();
    Matrix gram = Matrix::Identity(d, d);
    Vector moment = Vector::Zero(d);
    while (world.Next()) {
      const ArmId arm = PlayRound(learner, world, user, device);
      const Vector x = Eigen::Map<const Vector>(world.Context(arm).data(), d);
      gram += x * x.transpose();
      moment += *world.Reward(arm) * x;
      ExpectTheta(learner.policy(), 0, gram.inverse() * moment);
    }
  }
}

TEST(LdpOlsTest, WithAThetaForEachArmAnArmsRoundsAreItsOwn) {
  test::Coins coins(2);
  HandUser user(1);
  LdpOls learner =
      LdpOls::Create(MultiRules(2, 3, 100, 5), test::Reporter({.dimension = 2, .slots = 3})).value();
  test::WrittenRounds world(test::RandomRounds(100, 3, 2, true, coins.gen), true);
  auto device = learner.MakeDevice();
  std::vector<Matrix> gram(3, Matrix::Identity(2, 2));
  std::vector<Vector> moment(3, Vector::Zero(2));
  for (Count t = 1; world.Next(); ++t) {
    const auto arm = static_cast<std::size_t>(PlayRound(learner, world, user, device));
    const Vector x = Eigen::Map<const Vector>(world.Context(0).data(), 2);
    gram[arm] += x * x.transpose();
    moment[arm] += *world.Reward(static_cast<ArmId>(arm)) * x;
    if (t < 15) continue;  // the warm-up, which makes its estimates at its end
    for (std::size_t a = 0; a < 3; ++a) {
      ExpectTheta(learner.policy(), static_cast<Count>(a), gram[a].inverse() * moment[a]);
    }
  }
}

// Whenever a lazy learner solves, its solution is exact for everything that it has received. Between two
// solutions it keeps the last one.
TEST(LdpOlsTest, LazySolutionsAreExactWhenTheyAreMade) {
  test::Coins coins(3);
  for (const bool combine : {false, true}) {
    UserRegressionRules rules = Rules(2, 1, 500);
    rules.lazy = 0.1;
    rules.combine_messages = combine;
    LdpOls lazy = LdpOls::Create(rules, test::Reporter({})).value();
    LdpOls eager = LdpOls::Create(Rules(2, 1, 500), test::Reporter({})).value();
    test::WrittenRounds world(test::RandomRounds(500, 1, 2, false, coins.gen), false);
    auto lazy_device = lazy.MakeDevice();
    auto eager_device = eager.MakeDevice();
    HandUser user(1);
    Count solved = 0;
    Vector before = Vector::Zero(2);
    while (world.Next()) {
      PlayRound(lazy, world, user, lazy_device);
      PlayRound(eager, world, user, eager_device);
      const Vector now = Eigen::Map<const Vector>(lazy.policy().theta(0).data(), 2);
      if (now == before) continue;
      before = now;
      ++solved;
      ExpectTheta(eager.policy(), 0, now);
    }
    EXPECT_GT(solved, 30);
    EXPECT_LT(solved, 80);  // 10 + ln(50)/ln(1.1) is about 51
  }
}

// The sum of n users' messages, in one draw or one by one.
TEST(LdpOlsTest, CombinedMessagesHaveTheLawOfTheirSum) {
  constexpr Count kRounds = 40;
  constexpr int kRuns = 2'000;
  std::vector<double> samples[2];
  test::Coins coins(4);
  const auto rounds = test::RandomRounds(kRounds, 1, 2, false, coins.gen);
  for (int combine = 0; combine < 2; ++combine) {
    UserRegressionRules rules = Rules(2, 1, kRounds);
    rules.lazy = 1;
    rules.combine_messages = combine == 1;
    HandUser user(5 + static_cast<std::uint64_t>(combine));
    for (int run = 0; run < kRuns; ++run) {
      LdpOls learner = LdpOls::Create(rules, test::Reporter({.epsilon = 4})).value();
      test::WrittenRounds world(rounds, false);
      auto device = learner.MakeDevice();
      while (world.Next()) PlayRound(learner, world, user, device);
      samples[combine].push_back(learner.policy().theta(0)[0]);
    }
  }
  EXPECT_TRUE(test::SameLaw(samples[0], samples[1]));
}

TEST(UserRegressionTest, AnIndefiniteMatrixLeavesTheEstimateAndIsCounted) {
  UserRegressionRules rules = Rules(1, 1, 10);
  rules.shift.scale = 0;
  UserRegression model(rules, 1, 1.0);
  EXPECT_TRUE(model.Add(std::vector<double>{3, 2}, 1));
  EXPECT_DOUBLE_EQ(model.policy().theta(0)[0], 0.5);
  EXPECT_TRUE(model.Add(std::vector<double>{-10, 2}, 1));  // not positive: 1 + 3 - 10 < 0
  EXPECT_DOUBLE_EQ(model.policy().theta(0)[0], 0.5);
  EXPECT_EQ(model.repairs(), 1);
  EXPECT_TRUE(model.Add(std::vector<double>{10, 4}, 1));
  EXPECT_DOUBLE_EQ(model.policy().theta(0)[0], 2.0);
  EXPECT_EQ(model.repairs(), 1);
}

TEST(UserRegressionTest, TheShiftGrowsWithTheRootOfTheMessages) {
  UserRegressionRules rules = Rules(1, 1, 10);
  rules.shift.scale = 3;
  UserRegression model(rules, 1, 0.5);  // 3 x 0.5 x 2 sqrt(d) = 3
  model.Add(std::vector<double>{1, 10}, 4);
  EXPECT_DOUBLE_EQ(model.policy().theta(0)[0], 10 / (1 + 1 + 3 * 2.0));
  rules.shift = {.scale = 1, .paper = true};
  UserRegression paper(rules, 1, 0.5);
  paper.Add(std::vector<double>{1, 10}, 4);
  const double k = 2 * (4 + 2 * std::log(2 * 10 / 0.1));
  EXPECT_DOUBLE_EQ(paper.policy().theta(0)[0], 10 / (2 + 0.5 * k * 2));
}

// Both learners get the same records, because users have only one arm to choose from.
TEST(LdpOlsTest, AsEpsilonGrowsItBecomesTheAlgorithmWithoutPrivacy) {
  test::Coins coins(5);
  const auto rounds = test::RandomRounds(1'000, 1, 3, false, coins.gen);
  const auto theta = [&](std::optional<double> epsilon) {
    LdpOls learner =
        LdpOls::Create(Rules(3, 1, 1'000), test::Reporter({.dimension = 3, .epsilon = epsilon})).value();
    test::RegretOf(learner, test::WrittenRounds(rounds, false), 1'000);
    return Vector(Eigen::Map<const Vector>(learner.policy().theta(0).data(), 3));
  };
  const Vector none = theta(std::nullopt);
  EXPECT_LT((theta(1e4) - none).norm(), 0.01);
  EXPECT_GT((theta(1) - none).norm(), 0.02);
  double before = HUGE_VAL;
  for (const double epsilon : {10.0, 100.0, 1e3, 1e4}) {
    const double off = (theta(epsilon) - none).norm();
    EXPECT_LT(off, before) << epsilon;
    before = off;
  }
}

TEST(LdpUcbTest, ChoosesByTheUpperBound) {
  // One of two arms was never seen. Without a bonus the known arm wins, with it the other one.
  for (const double bonus : {0.0, 100.0}) {
    const LdpUcbRules rules{.regression = Rules(2, 2, 100), .bonus = bonus};
    LdpUcb learner = LdpUcb::Create(rules, test::Reporter({})).value();
    ActionMatrix contexts(2, 2);
    contexts << 0.9, 0, 0, 0.9;
    test::WrittenRounds world(std::vector<test::WrittenRounds::Round>(3, {contexts, {1, 1}}), false);
    auto device = learner.MakeDevice();
    test::Coins coins(1);
    HandUser user(1);
    ASSERT_TRUE(world.Next());
    EXPECT_EQ(PlayRound(learner, world, user, device), 0);
    ASSERT_TRUE(world.Next());
    EXPECT_EQ(learner.Choose(world, coins.gen, device), bonus == 0 ? 0 : 1);
  }
}

TEST(LdpUcbTest, WithoutABonusItIsLdpOls) {
  test::Coins coins(7);
  const auto rounds = test::RandomRounds(200, 4, 3, false, coins.gen);
  LdpUcb ucb = LdpUcb::Create({.regression = Rules(3, 4, 200), .bonus = 0},
                              test::Reporter({.dimension = 3, .epsilon = 2}))
                   .value();
  LdpOls ols = LdpOls::Create(Rules(3, 4, 200), test::Reporter({.dimension = 3, .epsilon = 2})).value();
  test::WrittenRounds one(rounds, false);
  test::WrittenRounds other(rounds, false);
  auto ucb_device = ucb.MakeDevice();
  auto ols_device = ols.MakeDevice();
  HandUser a(9);
  HandUser b(9);
  while (one.Next() && other.Next()) {
    ASSERT_EQ(PlayRound(ucb, one, a, ucb_device), PlayRound(ols, other, b, ols_device));
  }
}

TEST(LdpGlocTest, WithoutPrivacyItFollowsItsDefinition) {
  const Count d = 2;
  test::Coins coins(8);
  HandUser user(1);
  LdpGlocRules rules{.regression = Rules(d, 3, 100), .step = 5};
  LdpGloc learner = LdpGloc::Create(rules, test::Regression({.dimension = d}, {1, 2})).value();
  test::WrittenRounds world(test::RandomRounds(100, 3, d, false, coins.gen), false);
  auto device = learner.MakeDevice();
  Matrix gram = Matrix::Identity(d, d);
  Vector moment = Vector::Zero(d);
  Vector online = Vector::Zero(d);
  while (world.Next()) {
    const ArmId arm = PlayRound(learner, world, user, device);
    const Vector x = Eigen::Map<const Vector>(world.Context(arm).data(), d);
    gram += x * x.transpose();
    moment += x.dot(online) * x;
    online -= 0.5 * (x.dot(online) - *world.Reward(arm)) * x;
    if (online.norm() > 1) online /= online.norm();
    ExpectTheta(learner.policy(), 0, gram.inverse() * moment);
  }
}

TEST(ThompsonSamplingTest, ThetasHaveTheCovarianceThatTheyShould) {
  // Two arms, e_1 and -e_1, after one record of e_1: theta_1 ~ N(1/2, spread^2/2), and arm 0 is chosen if it
  // is > 0.
  const ThompsonSamplingRules rules{.regression = Rules(1, 2, 100), .spread = 1};
  ThompsonSampling learner = ThompsonSampling::Create(rules, test::Reporter({.dimension = 1})).value();
  ActionMatrix contexts(2, 1);
  contexts << 1, -1;
  test::WrittenRounds world(std::vector<test::WrittenRounds::Round>(2, {contexts, {1, -1}}), false);
  auto device = learner.MakeDevice();
  test::Coins coins(10);
  HandUser user(1);
  ASSERT_TRUE(world.Next());
  PlayRound(learner, world, user, device);
  ASSERT_TRUE(world.Next());
  constexpr int kDraws = 40'000;
  int first = 0;
  for (int i = 0; i < kDraws; ++i) first += learner.Choose(world, coins.gen, device) == 0 ? 1 : 0;
  const double p = 0.5 * std::erfc(-0.5 / std::sqrt(0.5) / std::sqrt(2.0));
  // Five standard deviations are a false alarm in two million.
  EXPECT_NEAR(first, kDraws * p, 5 * std::sqrt(kDraws * p * (1 - p)));
}

TEST(UserRegressionTest, BadParametersAreNamed) {
  UserRegressionRules rules = Rules(2, 2, 10);
  rules.lazy = -0.1;
  EXPECT_THAT(std::string(UserRegression::Check(rules).message()), HasSubstr("lazy"));
  rules.lazy = std::nan("");
  EXPECT_THAT(std::string(UserRegression::Check(rules).message()), HasSubstr("lazy"));
  rules = Rules(2, 2, 10);
  rules.shift.scale = -1;
  EXPECT_THAT(std::string(UserRegression::Check(rules).message()), HasSubstr("gram_shift"));
  EXPECT_THAT(std::string(LdpUcb::Create({.regression = Rules(2, 2, 10), .bonus = -1}, test::Reporter({}))
                              .status()
                              .message()),
              HasSubstr("bonus"));
  EXPECT_THAT(
      std::string(LdpGloc::Create({.regression = Rules(2, 2, 10), .step = 0}, test::Regression({}, {1, 2}))
                      .status()
                      .message()),
      HasSubstr("step"));
  EXPECT_THAT(std::string(ThompsonSampling::Create({.regression = Rules(2, 2, 10), .spread = std::nan("")},
                                                   test::Reporter({}))
                              .status()
                              .message()),
              HasSubstr("spread"));
}

// Theorem 3.1 with sigma = 3, and Theorem 4.1 with K = 4 arms; one message with x x' = 0 and r x = 1.
TEST(UserRegressionTest, ThePrintedShiftIsThatOfTheTheorems) {
  UserRegressionRules rules{.shape = {.horizon = 1000, .dimension = 1, .arms = 2}, .shift = {.paper = true}};
  for (const double arms : {1.0, 4.0}) {
    rules.shift.arms = arms;
    UserRegression model(rules, 1, 3);
    model.Add(std::vector<double>{0, 1}, 1);
    const double shift = 2 * 3 * (4 + 2 * std::log(2 * 1000 * arms / 0.1));
    EXPECT_NEAR(model.policy().theta(0)[0], 1 / (1 + shift), 1e-12);
  }
}

}  // namespace
}  // namespace bandana
