#include "bandana/bandit/worlds/logged_rounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "bandana/core/distributions.h"
#include "bandana/core/status.h"
#include "tests/support.h"

namespace bandana {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// A log of a uniform policy. The context is normal; the reward of action a is 1 with probability 1/2 + a/10
/// if the first entry of the context is positive.
std::shared_ptr<const LoggedData> Log(Count rounds, bool features = false) {
  test::Coins coins(3);
  LoggedData::Params params{.num_actions = 4, .dimension = 3};
  for (Count t = 0; t < rounds; ++t) {
    for (int i = 0; i < 3; ++i) params.contexts.push_back(StandardNormal(coins.gen));
    const auto action = static_cast<ArmId>(UniformBelow(4, coins.gen));
    params.actions.push_back(action);
    const bool positive = params.contexts[params.contexts.size() - 3] > 0;
    params.rewards.push_back(UniformUnit(coins.gen) < 0.5 + (positive ? 0.1 * action : 0) ? 1 : 0);
    params.pscores.push_back(0.25);
  }
  if (features) {
    params.action_contexts.resize(4, 2);
    params.action_contexts << 1, 0, 0, 1, 0.5, 0.5, -1, 2;
  }
  auto log = LoggedData::Create(std::move(params));
  EXPECT_TRUE(log.ok()) << log.status();
  return std::make_shared<const LoggedData>(*std::move(log));
}

LoggedFeatures Features(const LoggedData& log, ParameterKind kind, double bound) {
  auto features = LoggedFeatures::Create(log, kind, bound);
  EXPECT_TRUE(features.ok()) << features.status();
  return *std::move(features);
}

TEST(LoggedFeaturesTest, RejectsBadInputByName) {
  const auto log = Log(5);
  const auto key = [&](ParameterKind kind, double bound) {
    const auto error = InputErrorOf(LoggedFeatures::Create(*log, kind, bound).status());
    return error.has_value() ? error->key : "";
  };
  for (const double bad : {0., -1., kNan, 5e-324, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(key(ParameterKind::kMulti, bad), "context_bound");
  }
  EXPECT_EQ(key(ParameterKind::kSingle, 1), "parameters");
  EXPECT_EQ(key(ParameterKind::kMulti, 1), "");
}

TEST(LoggedFeaturesTest, SingleIsAnOuterProduct) {
  const auto log = Log(5, true);
  const LoggedFeatures features = Features(*log, ParameterKind::kSingle, 2);
  EXPECT_EQ(features.dimension(), 6);
  EXPECT_FALSE(features.multi());
  ActionMatrix phi;
  features.Write(log->context(2), phi);
  ASSERT_EQ(phi.rows(), 4);
  for (int a = 0; a < 4; ++a) {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 2; ++j) {
        EXPECT_DOUBLE_EQ(phi(a, 2 * i + j), log->context(2)[i] * log->action_contexts()(a, j) / 2);
      }
    }
    EXPECT_NEAR(phi.row(a).norm(), log->context(2).norm() * log->action_contexts().row(a).norm() / 2, 1e-14);
  }
  const std::vector<double> theta = {1, 2, 3, 4, 5, 6};
  std::vector<double> scores(4);
  LoggedFeatures::Scores(phi, false, theta, scores);
  for (int a = 0; a < 4; ++a) {
    EXPECT_NEAR(scores[static_cast<std::size_t>(a)],
                phi.row(a).dot(Eigen::Map<const Vector>(theta.data(), 6)), 1e-14);
  }
}

TEST(LoggedRoundsTest, GoesThroughTheLogInOrder) {
  const auto log = Log(200);
  LoggedRounds world(*Replay::Create(log), Features(*log, ParameterKind::kMulti, 4), 1, 0);
  EXPECT_TRUE(world.multi());
  EXPECT_EQ(world.arms(), 4);
  EXPECT_EQ(world.dimension(), 3);
  Count round = 0, counted = 0;
  std::vector<double> scores(4);
  const std::vector<double> thetas = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
  for (; world.Next(); ++round) {
    for (int i = 0; i < 3; ++i) {
      ASSERT_DOUBLE_EQ(world.Context(0)[static_cast<std::size_t>(i)], log->context(round)[i] / 4);
    }
    world.Scores(thetas, scores);
    ASSERT_NEAR(scores[3], log->context(round).sum() / 4, 1e-14);
    ASSERT_DOUBLE_EQ(scores[1], log->context(round)[1] / 4);
    ASSERT_TRUE(std::isnan(world.Gap(0)));
    if (round % 5 == 4) continue;  // nobody plays, so the round passes
    const ArmId arm = round % 4;
    const auto reward = world.Reward(arm);
    ASSERT_EQ(reward, world.Reward(arm));
    ASSERT_DOUBLE_EQ(world.Context(0)[0], log->context(round)[0] / 4) << "still this round's";
    // With a uniform log, every round in which the learner agrees with the log counts.
    ASSERT_EQ(reward.has_value(), log->action(round) == arm);
    if (reward.has_value()) {
      ASSERT_EQ(*reward, log->reward(round));
      ++counted;
    }
  }
  EXPECT_EQ(round, 200);
  EXPECT_EQ(world.replay().offered(), 200);
  EXPECT_EQ(world.replay().accepted(), counted);
  EXPECT_FALSE(world.Next());
}

TEST(LoggedRoundsDeathTest, OneArmARound) {
  const auto log = Log(5);
  LoggedRounds world(*Replay::Create(log), Features(*log, ParameterKind::kMulti, 4), 1, 0);
  world.Next();
  world.Reward(1);
  EXPECT_DEATH(world.Reward(2), "played_");
}

// Rounds that count have the law of the environment: the best action's mean, to five standard errors.
TEST(LoggedRoundsTest, RewardsAreThoseOfTheWorld) {
  const auto log = Log(40'000);
  LoggedRounds world(*Replay::Create(log), Features(*log, ParameterKind::kMulti, 4), 1, 0);
  double sum = 0, count = 0;
  while (world.Next()) {
    if (const auto reward = world.Reward(3)) {
      sum += *reward;
      ++count;
    }
  }
  EXPECT_NEAR(sum / count, 0.65, 5 * 0.5 / std::sqrt(count));
  EXPECT_NEAR(count, 10'000, 5 * std::sqrt(7'500));
}

TEST(LoggedDataPartTest, IsACut) {
  const auto log = Log(10, true);
  const LoggedData part = log->Part(3, 7);
  ASSERT_EQ(part.rounds(), 4);
  EXPECT_EQ(part.num_actions(), 4);
  EXPECT_EQ(part.action_contexts(), log->action_contexts());
  for (Count t = 0; t < 4; ++t) {
    EXPECT_EQ(part.context(t), log->context(t + 3));
    EXPECT_EQ(part.action(t), log->action(t + 3));
    EXPECT_EQ(part.reward(t), log->reward(t + 3));
    EXPECT_EQ(part.pscore(t), log->pscore(t + 3));
  }
  EXPECT_DEATH(log->Part(3, 3), "first < last");
  EXPECT_DEATH(log->Part(3, 11), "rounds");
}

}  // namespace
}  // namespace bandana
