#include "bandana/bandit/worlds/lending_rounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

namespace bandana {
namespace {

std::shared_ptr<const AutoLendingProblem> Twin(LendingReward reward) {
  auto loans = SyntheticTwin(1, 3'000);
  EXPECT_TRUE(loans.ok());
  auto problem = AutoLendingProblem::Create(*std::move(loans),
                                            {.reward = reward, .penalty = 1e-3, .scale = TwinScale()});
  EXPECT_TRUE(problem.ok()) << problem.status();
  return std::make_shared<const AutoLendingProblem>(*std::move(problem));
}

/// Returns the loan that has these contexts, or -1.
Count FindLoan(const AutoLendingProblem& problem, const ActionMatrix& contexts) {
  ActionMatrix own;
  for (Count i = 0; i < problem.loans(); ++i) {
    problem.Context(i, own);
    if (own == contexts) return i;
  }
  return -1;
}

TEST(LendingRoundsTest, IsTheProblem) {
  for (const LendingReward kind : {LendingReward::kAcceptance, LendingReward::kRevenue}) {
    const auto problem = Twin(kind);
    LendingRounds world(problem, 5, 0);
    EXPECT_EQ(world.arms(), 25);
    EXPECT_EQ(world.dimension(), 18);
    EXPECT_FALSE(world.multi());
    EXPECT_GT(problem->theta().norm(), 5);
    std::vector<double> scores(25);
    const Vector& theta = problem->theta();
    for (int t = 0; t < 20; ++t) {
      ASSERT_TRUE(world.Next());
      const Count loan = FindLoan(*problem, world.Contexts());
      ASSERT_GE(loan, 0);
      world.Scores({theta.data(), 18}, scores);
      double best = 0;
      for (ArmId a = 0; a < 25; ++a) best = std::max(best, problem->MeanReward(loan, a));
      for (ArmId a = 0; a < 25; ++a) {
        EXPECT_NEAR(scores[static_cast<std::size_t>(a)], world.Contexts().row(a).dot(theta), 1e-13);
        EXPECT_LE(world.Contexts().row(a).norm(), 1);
        EXPECT_NEAR(world.Gap(a), best - problem->MeanReward(loan, a), 1e-12);
        EXPECT_TRUE(std::equal(world.Context(a).begin(), world.Context(a).end(),
                               world.Contexts().data() + a * world.dimension()));
      }
    }
  }
}

// Compares means at five standard errors.
TEST(LendingRoundsTest, RewardsHaveTheirMeans) {
  for (const LendingReward kind : {LendingReward::kAcceptance, LendingReward::kRevenue}) {
    const auto problem = Twin(kind);
    LendingRounds world(problem, 6, 0);
    std::vector<double> scores(25);
    constexpr int kRounds = 20'000;
    double surplus = 0;
    for (int t = 0; t < kRounds; ++t) {
      world.Next();
      const ArmId arm = t % 25;
      world.Scores({problem->theta().data(), 18}, scores);
      const double reward = *world.Reward(arm);
      ASSERT_EQ(reward, *world.Reward(arm));
      ASSERT_TRUE(reward == 0 || reward == problem->RewardIfAccepted(arm));
      surplus +=
          reward - problem->RewardIfAccepted(arm) / (1 + std::exp(-scores[static_cast<std::size_t>(arm)]));
    }
    EXPECT_LE(std::abs(surplus), 5 * 0.5 * std::sqrt(kRounds));
  }
}

TEST(LendingRoundsTest, ApplicantsAreDrawnWithReplacementWhateverIsPlayed) {
  const auto problem = Twin(LendingReward::kAcceptance);
  LendingRounds a(problem, 6, 0), b(problem, 6, 0), c(problem, 6, 1);
  bool differ = false;
  for (int t = 0; t < 20; ++t) {
    a.Next();
    b.Next();
    c.Next();
    a.Reward(3);
    EXPECT_EQ(a.Contexts(), b.Contexts());
    differ = differ || a.Contexts() != c.Contexts();
  }
  EXPECT_TRUE(differ);
}

}  // namespace
}  // namespace bandana
