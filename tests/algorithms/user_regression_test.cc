#include "bandana/algorithms/user_regression.h"

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

using ::testing::HasSubstr;

UserRegressionParams Params(Count dimension, Count arms, Count horizon) {
  return {.frame = {.horizon = horizon, .dimension = dimension, .arms = arms}, .shift = {.scale = 2}};
}

UserRegressionParams MultiParams(Count dimension, Count arms, Count horizon, Count warm_up) {
  UserRegressionParams params = Params(dimension, arms, horizon);
  params.frame.multi = true;
  params.frame.warm_up = warm_up;
  params.frame.elimination_gap = 100;
  return params;
}

template <class Learner>
ArmId PlayRound(Learner& learner, test::WrittenRounds& world, CoinGen& coin, NoiseGen& noise,
                typename Learner::Device& device) {
  const ArmId arm = learner.Choose(world, coin, device);
  const Raw record(LocalRecord{world.Context(arm), *world.Reward(arm), arm});
  const Count users = learner.Report(arm, record, noise, device, nullptr);
  if (users > 0) learner.Learn(device.message, users);
  return arm;
}

void ExpectTheta(const UserPolicy& policy, Count slot, const Vector& expected) {
  for (Eigen::Index i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(policy.theta(slot)[static_cast<std::size_t>(i)], expected[i], 1e-10);
  }
}

TEST(LdpOlsTest, WithoutPrivacyItIsRidgeRegressionAfterEveryRound) {
  test::Coins coins(1);
  test::Noise noise(1);
  for (const Count d : {1, 3, 8}) {
    LdpOls learner = LdpOls::Create(Params(d, 4, 60), test::Reporter({.dimension = d})).value();
    test::WrittenRounds world(test::RandomRounds(60, 4, d, false, coins.gen), false);
    auto device = learner.MakeDevice();
    Matrix gram = Matrix::Identity(d, d);
    Vector moment = Vector::Zero(d);
    while (world.Next()) {
      const ArmId arm = PlayRound(learner, world, coins.gen, noise.gen, device);
      const Vector x = Eigen::Map<const Vector>(world.Context(arm).data(), d);
      gram += x * x.transpose();
      moment += *world.Reward(arm) * x;
      ExpectTheta(learner.policy(), 0, gram.inverse() * moment);
    }
  }
}

TEST(LdpOlsTest, WithAThetaForEachArmAnArmsRoundsAreItsOwn) {
  test::Coins coins(2);
  test::Noise noise(1);
  LdpOls learner =
      LdpOls::Create(MultiParams(2, 3, 100, 5), test::Reporter({.dimension = 2, .slots = 3})).value();
  test::WrittenRounds world(test::RandomRounds(100, 3, 2, true, coins.gen), true);
  auto device = learner.MakeDevice();
  std::vector<Matrix> gram(3, Matrix::Identity(2, 2));
  std::vector<Vector> moment(3, Vector::Zero(2));
  for (Count t = 1; world.Next(); ++t) {
    const auto arm = static_cast<std::size_t>(PlayRound(learner, world, coins.gen, noise.gen, device));
    const Vector x = Eigen::Map<const Vector>(world.Context(0).data(), 2);
    gram[arm] += x * x.transpose();
    moment[arm] += *world.Reward(static_cast<ArmId>(arm)) * x;
    if (t < 15) continue;  // the warm-up: estimates are of its end
    for (std::size_t a = 0; a < 3; ++a) {
      ExpectTheta(learner.policy(), static_cast<Count>(a), gram[a].inverse() * moment[a]);
    }
  }
}

// A lazy learner has, whenever it solves, the exact solution of all that it was sent; between two solutions
// the last.
TEST(LdpOlsTest, LazySolutionsAreExactWhenTheyAreMade) {
  test::Coins coins(3);
  for (const bool crowds : {false, true}) {
    UserRegressionParams params = Params(2, 1, 500);
    params.lazy = 0.1;
    params.crowds = crowds;
    LdpOls lazy = LdpOls::Create(params, test::Reporter({})).value();
    LdpOls eager = LdpOls::Create(Params(2, 1, 500), test::Reporter({})).value();
    test::WrittenRounds world(test::RandomRounds(500, 1, 2, false, coins.gen), false);
    auto lazy_device = lazy.MakeDevice();
    auto eager_device = eager.MakeDevice();
    test::Noise noise(1);
    Count solved = 0;
    Vector before = Vector::Zero(2);
    while (world.Next()) {
      PlayRound(lazy, world, coins.gen, noise.gen, lazy_device);
      PlayRound(eager, world, coins.gen, noise.gen, eager_device);
      const Vector now = Eigen::Map<const Vector>(lazy.policy().theta(0).data(), 2);
      if (now == before) continue;
      before = now;
      ++solved;
      ExpectTheta(eager.policy(), 0, now);
    }
    EXPECT_GT(solved, 30);
    EXPECT_LT(solved, 80);  // 10 + ln(50)/ln(1.1), about 51
  }
}

// The sum of n users' messages, in one draw or one by one.
TEST(LdpOlsTest, CrowdsHaveTheLawOfTheirUsers) {
  constexpr Count kRounds = 40;
  constexpr int kRuns = 2'000;
  std::vector<double> samples[2];
  test::Coins coins(4);
  const auto rounds = test::RandomRounds(kRounds, 1, 2, false, coins.gen);
  for (int crowds = 0; crowds < 2; ++crowds) {
    UserRegressionParams params = Params(2, 1, kRounds);
    params.lazy = 1;
    params.crowds = crowds == 1;
    test::Noise noise(5 + static_cast<std::uint64_t>(crowds));
    for (int run = 0; run < kRuns; ++run) {
      LdpOls learner = LdpOls::Create(params, test::Reporter({.epsilon = 4})).value();
      test::WrittenRounds world(rounds, false);
      auto device = learner.MakeDevice();
      while (world.Next()) PlayRound(learner, world, coins.gen, noise.gen, device);
      samples[crowds].push_back(learner.policy().theta(0)[0]);
    }
  }
  EXPECT_TRUE(test::SameLaw(samples[0], samples[1]));
}

TEST(UserRegressionTest, AnIndefiniteMatrixLeavesTheEstimateAndIsCounted) {
  UserRegressionParams params = Params(1, 1, 10);
  params.shift.scale = 0;
  UserRegression model(params, 1, 1.0);
  EXPECT_TRUE(model.Add(std::vector<double>{3, 2}, 1));
  EXPECT_DOUBLE_EQ(model.policy().theta(0)[0], 0.5);
  EXPECT_TRUE(model.Add(std::vector<double>{-10, 2}, 1));  // 1 + 3 - 10 < 0
  EXPECT_DOUBLE_EQ(model.policy().theta(0)[0], 0.5);
  EXPECT_EQ(model.repairs(), 1);
  EXPECT_TRUE(model.Add(std::vector<double>{10, 4}, 1));
  EXPECT_DOUBLE_EQ(model.policy().theta(0)[0], 2.0);
  EXPECT_EQ(model.repairs(), 1);
}

TEST(UserRegressionTest, TheShiftGrowsWithTheRootOfTheMessages) {
  UserRegressionParams params = Params(1, 1, 10);
  params.shift.scale = 3;
  UserRegression model(params, 1, 0.5);  // 3 x 0.5 x 2 sqrt(d) = 3
  model.Add(std::vector<double>{1, 10}, 4);
  EXPECT_DOUBLE_EQ(model.policy().theta(0)[0], 10 / (1 + 1 + 3 * 2.0));
  params.shift = {.scale = 1, .paper = true};
  UserRegression paper(params, 1, 0.5);
  paper.Add(std::vector<double>{1, 10}, 4);
  const double k = 2 * (4 + 2 * std::log(2 * 10 / 0.1));
  EXPECT_DOUBLE_EQ(paper.policy().theta(0)[0], 10 / (2 + 0.5 * k * 2));
}

// On the same records, whose users have one arm to choose from.
TEST(LdpOlsTest, AsEpsilonGrowsItBecomesTheAlgorithmWithoutPrivacy) {
  test::Coins coins(5);
  const auto rounds = test::RandomRounds(1'000, 1, 3, false, coins.gen);
  const auto theta = [&](std::optional<double> epsilon) {
    LdpOls learner =
        LdpOls::Create(Params(3, 1, 1'000), test::Reporter({.dimension = 3, .epsilon = epsilon})).value();
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
  // Two arms, one never seen: without a bonus the known one wins, with it the other.
  for (const double bonus : {0.0, 100.0}) {
    const LdpUcbParams params{.regression = Params(2, 2, 100), .bonus = bonus};
    LdpUcb learner = LdpUcb::Create(params, test::Reporter({})).value();
    ActionMatrix contexts(2, 2);
    contexts << 0.9, 0, 0, 0.9;
    test::WrittenRounds world(std::vector<test::WrittenRounds::Round>(3, {contexts, {1, 1}}), false);
    auto device = learner.MakeDevice();
    test::Coins coins(1);
    test::Noise noise(1);
    ASSERT_TRUE(world.Next());
    EXPECT_EQ(PlayRound(learner, world, coins.gen, noise.gen, device), 0);
    ASSERT_TRUE(world.Next());
    EXPECT_EQ(learner.Choose(world, coins.gen, device), bonus == 0 ? 0 : 1);
  }
}

TEST(LdpUcbTest, WithoutABonusItIsLdpOls) {
  test::Coins coins(7);
  const auto rounds = test::RandomRounds(200, 4, 3, false, coins.gen);
  LdpUcb ucb = LdpUcb::Create({.regression = Params(3, 4, 200), .bonus = 0},
                              test::Reporter({.dimension = 3, .epsilon = 2}))
                   .value();
  LdpOls ols = LdpOls::Create(Params(3, 4, 200), test::Reporter({.dimension = 3, .epsilon = 2})).value();
  test::WrittenRounds one(rounds, false);
  test::WrittenRounds other(rounds, false);
  auto ucb_device = ucb.MakeDevice();
  auto ols_device = ols.MakeDevice();
  test::Noise a(9);
  test::Noise b(9);
  while (one.Next() && other.Next()) {
    ASSERT_EQ(PlayRound(ucb, one, coins.gen, a.gen, ucb_device),
              PlayRound(ols, other, coins.gen, b.gen, ols_device));
  }
}

TEST(LdpGlocTest, WithoutPrivacyItFollowsItsDefinition) {
  const Count d = 2;
  test::Coins coins(8);
  test::Noise noise(1);
  LdpGlocParams params{.regression = Params(d, 3, 100), .step = 5};
  LdpGloc learner = LdpGloc::Create(params, test::Regression({.dimension = d}, {1, 2})).value();
  test::WrittenRounds world(test::RandomRounds(100, 3, d, false, coins.gen), false);
  auto device = learner.MakeDevice();
  Matrix gram = Matrix::Identity(d, d);
  Vector moment = Vector::Zero(d);
  Vector online = Vector::Zero(d);
  while (world.Next()) {
    const ArmId arm = PlayRound(learner, world, coins.gen, noise.gen, device);
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
  const ThompsonSamplingParams params{.regression = Params(1, 2, 100), .spread = 1};
  ThompsonSampling learner = ThompsonSampling::Create(params, test::Reporter({.dimension = 1})).value();
  ActionMatrix contexts(2, 1);
  contexts << 1, -1;
  test::WrittenRounds world(std::vector<test::WrittenRounds::Round>(2, {contexts, {1, -1}}), false);
  auto device = learner.MakeDevice();
  test::Coins coins(10);
  test::Noise noise(1);
  ASSERT_TRUE(world.Next());
  PlayRound(learner, world, coins.gen, noise.gen, device);
  ASSERT_TRUE(world.Next());
  constexpr int kDraws = 40'000;
  int first = 0;
  for (int i = 0; i < kDraws; ++i) first += learner.Choose(world, coins.gen, device) == 0 ? 1 : 0;
  const double p = 0.5 * std::erfc(-0.5 / std::sqrt(0.5) / std::sqrt(2.0));
  // 5 standard deviations: a false alarm in two million.
  EXPECT_NEAR(first, kDraws * p, 5 * std::sqrt(kDraws * p * (1 - p)));
}

TEST(UserRegressionTest, BadParametersAreNamed) {
  UserRegressionParams params = Params(2, 2, 10);
  params.lazy = -0.1;
  EXPECT_THAT(std::string(UserRegression::Check(params).message()), HasSubstr("algorithm.lazy"));
  params.lazy = std::nan("");
  EXPECT_THAT(std::string(UserRegression::Check(params).message()), HasSubstr("algorithm.lazy"));
  params = Params(2, 2, 10);
  params.shift.scale = -1;
  EXPECT_THAT(std::string(UserRegression::Check(params).message()), HasSubstr("algorithm.gram_shift"));
  EXPECT_THAT(std::string(LdpUcb::Create({.regression = Params(2, 2, 10), .bonus = -1}, test::Reporter({}))
                              .status()
                              .message()),
              HasSubstr("algorithm.bonus"));
  EXPECT_THAT(
      std::string(LdpGloc::Create({.regression = Params(2, 2, 10), .step = 0}, test::Regression({}, {1, 2}))
                      .status()
                      .message()),
      HasSubstr("algorithm.step"));
  EXPECT_THAT(std::string(ThompsonSampling::Create({.regression = Params(2, 2, 10), .spread = std::nan("")},
                                                   test::Reporter({}))
                              .status()
                              .message()),
              HasSubstr("algorithm.spread"));
}

}  // namespace
}  // namespace bandana
