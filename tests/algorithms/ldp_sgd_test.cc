#include "bandana/algorithms/users/ldp_sgd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/algorithms/user_support.h"
#include "tests/support.h"

// Seeds are fixed.
namespace bandana {
namespace {

using ::testing::HasSubstr;

LdpSgdRules Rules(Count dimension, Count arms, Count horizon) {
  return {.shape = {.horizon = horizon, .dimension = dimension, .arms = arms}, .step = 1};
}

LdpSgdRules MultiRules(Count dimension, Count arms, Count horizon, Count warm_up) {
  LdpSgdRules rules = Rules(dimension, arms, horizon);
  rules.shape.multi = true;
  rules.shape.warm_up = warm_up;
  rules.shape.elimination_gap = 1;
  return rules;
}

/// Returns theta by Equations (5) and (6) with the projection, written as in the paper.
Vector Textbook(const std::vector<test::WrittenRounds::Round>& rounds, double step) {
  const Eigen::Index d = rounds.front().contexts.cols();
  Vector theta = Vector::Zero(d);
  for (std::size_t t = 0; t < rounds.size(); ++t) {
    const ActionMatrix& contexts = rounds[t].contexts;
    Eigen::Index best = 0;
    for (Eigen::Index a = 1; a < contexts.rows(); ++a) {
      if (contexts.row(a).dot(theta) > contexts.row(best).dot(theta)) best = a;
    }
    const Vector x = contexts.row(best);
    const double reward = rounds[t].rewards[static_cast<std::size_t>(best)];
    theta -= step * static_cast<double>(d) / static_cast<double>(t + 1) * (x.dot(theta) - reward) * x;
    if (theta.norm() > 1) theta /= theta.norm();
  }
  return theta;
}

TEST(LdpSgdTest, WithoutPrivacyItIsTheTextbooksAlgorithm) {
  test::Coins coins(1);
  for (const Count d : {1, 2, 5}) {
    const auto rounds = test::RandomRounds(200, 4, d, false, coins.gen);
    LdpSgd learner = LdpSgd::Create(Rules(d, 4, 200), test::Gradient({.dimension = d})).value();
    test::RegretOf(learner, test::WrittenRounds(rounds, false), 200);
    const Vector expected = Textbook(rounds, 1);
    for (Eigen::Index i = 0; i < d; ++i) {
      EXPECT_NEAR(learner.policy().theta(0)[static_cast<std::size_t>(i)], expected[i], 1e-12);
    }
  }
}

TEST(LdpSgdTest, EveryArmLearnsFromItsOwnRoundsAlone) {
  // With one theta for each arm and no privacy, an arm's estimate is SGD's on that arm's own rounds; the step
  // sizes count all rounds after the warm-up.
  test::Coins coins(2);
  const auto rounds = test::RandomRounds(90, 3, 2, true, coins.gen);
  LdpSgd learner =
      LdpSgd::Create(MultiRules(2, 3, 90, 10), test::Gradient({.dimension = 2, .slots = 3})).value();
  test::WrittenRounds world(rounds, true);
  std::vector<Vector> thetas(3, Vector::Zero(2));
  auto device = learner.MakeDevice();
  test::HandUser user(1);
  for (Count t = 0; world.Next(); ++t) {
    const ArmId arm = test::PlayRound(learner, world, user, device);
    if (t < 30) EXPECT_EQ(arm, t % 3);
    const Vector x = Eigen::Map<const Vector>(world.Context(arm).data(), 2);
    const double reward = *world.Reward(arm);
    Vector& theta = thetas[static_cast<std::size_t>(arm)];
    const Count pulls = t / 3 + 1;
    theta -= 2.0 / static_cast<double>(pulls) * (x.dot(theta) - reward) * x;
    if (theta.norm() > 1) theta /= theta.norm();
    for (Count slot = 0; slot < 3; ++slot) {
      for (Eigen::Index i = 0; i < 2; ++i) {
        ASSERT_NEAR(learner.policy().theta(slot)[static_cast<std::size_t>(i)],
                    thetas[static_cast<std::size_t>(slot)][i], 1e-12);
      }
    }
  }
}

TEST(LdpSgdTest, ThetaStaysInItsBallWhateverTheNoise) {
  LdpSgdRules rules = Rules(3, 2, 300);
  rules.step = 1000;
  rules.theta_norm = 0.7;
  test::Coins coins(3);
  LdpSgd learner = LdpSgd::Create(rules, test::Gradient({.dimension = 3, .epsilon = 0.1})).value();
  test::WrittenRounds world(test::RandomRounds(300, 2, 3, false, coins.gen), false);
  auto device = learner.MakeDevice();
  test::HandUser user(2);
  while (world.Next()) {
    test::PlayRound(learner, world, user, device);
    double squares = 0;
    for (const double each : learner.policy().thetas()) squares += each * each;
    ASSERT_LE(squares, 0.49 * (1 + 1e-12));
  }
}

TEST(LdpSgdTest, WithoutProjectionThetaLeavesItsBall) {
  LdpSgdRules rules = Rules(3, 2, 10);
  rules.step = 1000;
  rules.projection = SgdProjection::kNone;
  test::Coins coins(3);
  LdpSgd learner = LdpSgd::Create(rules, test::Gradient({.dimension = 3, .epsilon = 0.1})).value();
  test::RegretOf(learner, test::WrittenRounds(test::RandomRounds(10, 2, 3, false, coins.gen), false), 10);
  double squares = 0;
  for (const double each : learner.policy().thetas()) squares += each * each;
  EXPECT_GT(squares, 100);
}

// One arm with context 1 and reward 0.5, so that the n-th step moves theta by its length times theta - 0.5.
TEST(LdpSgdTest, StepsFallAsTheySay) {
  const auto steps_of = [](SgdSteps steps, bool multi) {
    LdpSgdRules rules = multi ? MultiRules(1, 2, 40, 5) : Rules(1, 1, 40);
    rules.step = 0.01;
    rules.steps = steps;
    const std::vector<double> rewards(static_cast<std::size_t>(rules.shape.arms), 0.5);
    const ActionMatrix contexts = ActionMatrix::Ones(1, 1);
    test::WrittenRounds world(std::vector<test::WrittenRounds::Round>(40, {contexts, rewards}), multi);
    LdpSgd learner = LdpSgd::Create(rules, test::Gradient({.dimension = 1, .slots = multi ? 2 : 1})).value();
    auto device = learner.MakeDevice();
    test::HandUser user(1);
    std::vector<double> lengths;
    while (world.Next()) {
      const std::vector<double> before(learner.policy().thetas().begin(), learner.policy().thetas().end());
      const ArmId arm = test::PlayRound(learner, world, user, device);
      const auto slot = static_cast<std::size_t>(multi ? arm : 0);
      lengths.push_back((learner.policy().thetas()[slot] - before[slot]) / (0.5 - before[slot]));
    }
    return lengths;
  };
  for (std::size_t t = 0; t < 40; ++t) {
    const auto n = static_cast<double>(t + 1);
    const double pulls = std::floor(static_cast<double>(t) / 2) + 1;
    EXPECT_NEAR(steps_of(SgdSteps::kPulls, false)[t], 0.01 / n, 1e-12);
    EXPECT_NEAR(steps_of(SgdSteps::kPaper, false)[t], 0.01 / n, 1e-12);
    EXPECT_NEAR(steps_of(SgdSteps::kRoot, false)[t], 0.01 / std::sqrt(n), 1e-12);
    EXPECT_NEAR(steps_of(SgdSteps::kPulls, true)[t], 0.01 / pulls, 1e-12);
    EXPECT_NEAR(steps_of(SgdSteps::kPaper, true)[t], t < 10 ? 0.01 / pulls : 0.01 / (n - 5), 1e-12);
  }
}

TEST(LdpSgdTest, TheMeanOfIteratesHasTheWeightsThatItSays) {
  // average = 0: the plain mean.
  LdpSgdRules last = Rules(2, 3, 50);
  LdpSgdRules mean = last;
  mean.average = 0;
  test::Coins coins(4);
  auto rounds = test::RandomRounds(50, 1, 2, false, coins.gen);  // one arm: both see the same
  last.shape.arms = mean.shape.arms = 1;
  LdpSgd a = LdpSgd::Create(last, test::Gradient({})).value();
  LdpSgd b = LdpSgd::Create(mean, test::Gradient({})).value();
  test::WrittenRounds world(rounds, false);
  auto device = a.MakeDevice();
  test::HandUser user(1);
  std::vector<double> sum(2, 0.0);
  for (Count t = 1; world.Next(); ++t) {
    for (LdpSgd* learner : {&a, &b}) test::PlayRound(*learner, world, user, device);
    for (std::size_t i = 0; i < 2; ++i) {
      sum[i] += a.policy().theta(0)[i];
      ASSERT_NEAR(b.policy().theta(0)[i], sum[i] / static_cast<double>(t), 1e-12);
    }
  }
}

TEST(LdpSgdTest, LearnsWithPrivacy) {
  // The regret must be below a quarter of what guessing costs; no learner in these worlds gets there by
  // chance.
  for (const L2BallRandomizer randomizer : {L2BallRandomizer::kDuchi, L2BallRandomizer::kPrivUnit}) {
    LdpSgdRules rules = Rules(2, 5, 20'000);
    rules.delay = 1;
    LdpSgd learner = LdpSgd::Create(rules, test::Gradient({.epsilon = 4}, randomizer)).value();
    const auto problem = test::Problem(2, 5);
    const double regret = test::RegretOf(learner, ProjectedRounds(problem, 7, 0), 20'000);
    LdpSgd idle = LdpSgd::Create(rules, test::Gradient({.epsilon = 1e-6}, randomizer)).value();
    const double guessing = test::RegretOf(idle, ProjectedRounds(problem, 7, 0), 20'000);
    EXPECT_LT(regret, guessing / 4);
  }
}

// At epsilon = 30, the largest that is accepted, the noise of a lifted message is at most 1e-3 of its radius.
TEST(LdpSgdTest, AsEpsilonGrowsItBecomesTheAlgorithmWithoutPrivacy) {
  const auto problem = test::Problem(3, 4);
  const auto regret = [&](std::optional<double> epsilon) {
    LdpSgdRules rules = Rules(3, 4, 5'000);
    LdpSgd learner = LdpSgd::Create(rules, test::Gradient({.dimension = 3, .epsilon = epsilon})).value();
    return test::RegretOf(learner, DrawnRounds(problem, 7, 0), 5'000);
  };
  const double none = regret(std::nullopt);
  EXPECT_NEAR(regret(30), none, 0.05 * none);
  EXPECT_GT(regret(1), 2 * none);
}

TEST(LdpSgdTest, TheExactSamplerLearnsAsTheFastOneDoes) {
  LdpSgdRules rules = Rules(2, 3, 3'000);
  rules.delay = 1;
  double totals[2] = {0, 0};
  for (int i = 0; i < 2; ++i) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      LdpSgd learner = LdpSgd::Create(rules, test::Gradient({.epsilon = 4}, L2BallRandomizer::kDuchi,
                                                            i == 0 ? Sampler::kExact : Sampler::kFast))
                           .value();
      totals[i] += test::RegretOf(learner, DrawnRounds(test::Problem(2, 3), seed, 0), 3'000, seed);
    }
  }
  EXPECT_LT(totals[0], 2 * totals[1]);
  EXPECT_LT(totals[1], 2 * totals[0]);
}

TEST(LdpSgdTest, BadParametersAreNamed) {
  const auto error = [](const LdpSgdRules& rules) {
    return std::string(LdpSgd::Create(rules, test::Gradient({})).status().message());
  };
  LdpSgdRules rules = Rules(2, 2, 10);
  for (const double step : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    rules.step = step;
    EXPECT_THAT(error(rules), HasSubstr("step"));
  }
  rules.step = 1;
  rules.delay = -1;
  EXPECT_THAT(error(rules), HasSubstr("delay"));
  rules.delay = 0;
  rules.average = -0.5;
  EXPECT_THAT(error(rules), HasSubstr("average"));
  rules.average.reset();
  rules.theta_norm = 0;
  EXPECT_THAT(error(rules), HasSubstr("theta_norm"));
}

}  // namespace
}  // namespace bandana
