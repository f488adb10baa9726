#include "bandana/bandit/worlds/arm_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "bandana/core/status.h"
#include "tests/support.h"

// Seeds are fixed. Chi-square tests have a false-alarm rate of 1e-6 over seeds; moments may be off by five
// standard deviations.
namespace bandana {
namespace {

std::shared_ptr<const ArmProblem> Problem(std::vector<double> means, Count agents) {
  return std::make_shared<const ArmProblem>(ArmProblem::FromMeans(std::move(means), agents).value());
}

ArmWorld World(std::vector<double> means, Count agents, std::uint64_t seed = 3, std::uint32_t replicate = 0) {
  return ArmWorld::Create(
             {.problem = Problem(std::move(means), agents), .seed = seed, .replicate = replicate})
      .value();
}

std::vector<double> Answer(ArmWorld& world, std::uint32_t agent, const std::vector<Pull>& pulls,
                           Epoch epoch = 1) {
  std::vector<RewardSum> rewards(pulls.size());
  const absl::Status status = world.Answer(NodeId{agent}, epoch, pulls, rewards);
  EXPECT_TRUE(status.ok()) << status;
  std::vector<double> sums;
  for (std::size_t i = 0; i < pulls.size(); ++i) {
    EXPECT_EQ(rewards[i].count, pulls[i].count);
    sums.push_back(rewards[i].sum);
  }
  return sums;
}

std::vector<double> Masses(int count, double mean) {
  std::vector<double> masses;
  const boost::math::binomial law(count, mean);
  for (int k = 0; k <= count; ++k) masses.push_back(pdf(law, k));
  return masses;
}

TEST(ArmWorldTest, SumsAreBinomialWithTheAgentsOwnMean) {
  constexpr int kDraws = 20'000;
  ArmWorld world = World({0.3, 0.9, 0.6, 0.1}, 2);
  std::vector<double> one(13), other(13), single(2);
  for (int i = 0; i < kDraws; ++i) {
    one[static_cast<std::size_t>(Answer(world, 1, {{0, 12}})[0])] += 1;
    other[static_cast<std::size_t>(Answer(world, 2, {{0, 12}})[0])] += 1;
    single[static_cast<std::size_t>(Answer(world, 2, {{1, 1}})[0])] += 1;
  }
  EXPECT_TRUE(test::FitsMasses(one, Masses(12, 0.3)));
  EXPECT_TRUE(test::FitsMasses(other, Masses(12, 0.6)));
  EXPECT_TRUE(test::FitsMasses(single, Masses(1, 0.1)));
  EXPECT_FALSE(test::FitsMasses(one, Masses(12, 0.32))) << "a mean that is off by 0.02 must be seen";
}

TEST(ArmWorldTest, AnAgentMeetsTheSameAloneAndAmongMany) {
  const std::vector<double> means = {0.2, 0.5, 0.7, 0.4, 0.6, 0.3};
  const std::vector<Pull> pulls = {{0, 5}, {1, 100}, {0, 1}, {1, 1'000'000}};
  ArmWorld all = World(means, 3);
  std::vector<std::vector<double>> among(4);
  for (int turn = 0; turn < 50; ++turn) {
    for (std::uint32_t agent = 3; agent >= 1; --agent) {
      for (const double sum : Answer(all, agent, pulls, turn)) among[agent].push_back(sum);
    }
  }
  for (std::uint32_t agent = 1; agent <= 3; ++agent) {
    ArmWorld alone = World(means, 3);
    std::vector<double> sums;
    for (int turn = 0; turn < 50; ++turn) {
      for (const Pull& pull : pulls) sums.push_back(Answer(alone, agent, {pull}, 7)[0]);
    }
    EXPECT_EQ(sums, among[agent]) << "neither other agents, calls nor epochs matter";
  }
}

TEST(ArmWorldTest, AgentSeedAndReplicateEachGiveOtherAnswers) {
  const std::vector<double> means(4, 0.5);
  const std::vector<Pull> pulls = {{0, 1000}, {0, 1000}, {0, 1000}, {0, 1000}};
  ArmWorld world = World(means, 4);
  ArmWorld reseeded = World(means, 4, 4);
  ArmWorld replicated = World(means, 4, 3, 1);
  const std::vector<double> first = Answer(world, 1, pulls);
  EXPECT_NE(first, Answer(world, 1, pulls)) << "a generator goes on";
  EXPECT_NE(first, Answer(world, 2, pulls));
  EXPECT_NE(first, Answer(reseeded, 1, pulls));
  EXPECT_NE(first, Answer(replicated, 1, pulls));
}

TEST(ArmWorldTest, TheCostDoesNotDependOnTheCounts) {
  ArmWorld world = World({0.3, 0, 1}, 1);
  for (int i = 0; i < 1000; ++i) {
    const std::vector<double> sums = Answer(world, 1, {{0, 1'000'000'000'000}, {1, 9}, {2, 9}, {0, 0}});
    ASSERT_NEAR(sums[0] / 1e12, 0.3, 5 * std::sqrt(0.21 / 1e12));
    ASSERT_EQ(sums[1], 0);
    ASSERT_EQ(sums[2], 9);
    ASSERT_EQ(sums[3], 0);
  }
}

TEST(ArmWorldTest, UniformRewardsNeedMeansOfOneHalf) {
  ArmWorld world =
      ArmWorld::Create({.problem = Problem({0.5, 0.75}, 1), .reward = RewardKind::kUniform}).value();
  std::vector<double> sample;
  for (int i = 0; i < 20'000; ++i) {
    sample.push_back(Answer(world, 1, {{1, 1}})[0]);
    ASSERT_GE(sample.back(), 0.5);
    ASSERT_LE(sample.back(), 1);
  }
  EXPECT_TRUE(test::FitsCdf(sample, [](double x) { return 2 * x - 1; }));
  const auto refused = [](std::vector<double> means, RewardKind kind) {
    const auto other = ArmWorld::Create({.problem = Problem(std::move(means), 1), .reward = kind});
    return other.ok() ? "ok" : InputErrorOf(other.status()).value_or(InputError{}).key;
  };
  EXPECT_EQ(refused({0.5, 0.49}, RewardKind::kUniform), "reward");
  EXPECT_EQ(refused({0.5}, RewardKind::kGaussian), "reward");
  EXPECT_EQ(refused({0.5}, RewardKind::kRademacher), "reward");
}

TEST(ArmWorldTest, WhatIsNotThereIsAnError) {
  ArmWorld world = World({0.5, 0.5}, 1);
  std::vector<RewardSum> rewards(1);
  const auto fails = [&](NodeId agent, Pull pull) {
    return std::string(world.Answer(agent, 1, std::vector{pull}, rewards).message());
  };
  EXPECT_THAT(fails(NodeId{2}, {0, 1}), ::testing::HasSubstr("agent 2"));
  EXPECT_THAT(fails(kServerNode, {0, 1}), ::testing::HasSubstr("agent 0"));
  EXPECT_THAT(fails(NodeId{1}, {2, 1}), ::testing::HasSubstr("arm 2"));
  EXPECT_THAT(fails(NodeId{1}, {-1, 1}), ::testing::HasSubstr("arm -1"));
  EXPECT_THAT(fails(NodeId{1}, {0, -1}), ::testing::HasSubstr("-1 pulls"));
}

TEST(ArmWorldTest, ARestoredWorldGivesTheNextRewards) {
  const std::vector<double> means = {0.3, 0.7, 0.3, 0.7, 0.3, 0.7};
  ArmWorld world = World(means, 3);
  Answer(world, 1, {{0, 5}, {1, 2}});
  Answer(world, 3, {{1, 40}});
  ArmWorld other = World(means, 3);
  ASSERT_TRUE(other.Restore(world.Save()).ok());
  for (int i = 0; i < 100; ++i) {
    for (const std::uint32_t agent : {1, 2, 3}) {
      ASSERT_EQ(Answer(world, agent, {{0, 1}}), Answer(other, agent, {{0, 1}})) << agent;
    }
  }
  EXPECT_FALSE(World(means, 2).Restore(world.Save()).ok()) << "another number of agents";
  EXPECT_FALSE(World(means, 3).Restore("").ok());
  std::string years = world.Save();
  years.back() = '\x40';  // the last agent would draw 2^62 words again
  EXPECT_EQ(World(means, 3).Restore(years).code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace bandana
