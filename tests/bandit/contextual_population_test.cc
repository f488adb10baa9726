#include "bandana/bandit/worlds/contextual_population.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "bandana/core/status.h"
#include "tests/support.h"

// Seeds are fixed. Laws are compared with the Kolmogorov-Smirnov test at 1e-6, means at five standard
// deviations.
namespace bandana {
namespace {

std::shared_ptr<const ContextualProblem> Problem(std::shared_ptr<const ContextLaw> law, double norm = 0.9) {
  const Count dimension = law->dimension();
  auto policies = PolicySet::Create({.law = std::move(law), .thetas = *PolicyDirections(dimension, 16, 1)});
  EXPECT_TRUE(policies.ok());
  auto problem = ContextualProblem::Draw(*policies, norm, 2, 1);
  EXPECT_TRUE(problem.ok());
  return std::make_shared<const ContextualProblem>(*std::move(problem));
}

// All entries and theta are positive, so means are in [0, 1].
std::shared_ptr<const ContextualProblem> PositiveProblem() {
  ActionMatrix stacked(6, 2);
  stacked << 0.9, 0.1, 0.2, 0.8, 0.5, 0.5, 0.6, 0.1, 0.1, 0.7, 0.3, 0.3;
  auto policies =
      PolicySet::Create({.law = *SampledContexts::Create(stacked, 3), .thetas = *PolicyDirections(2, 64, 1)});
  EXPECT_TRUE(policies.ok());
  auto problem = ContextualProblem::Create(*policies, (Vector(2) << 0.8, 0.6).finished());
  EXPECT_TRUE(problem.ok());
  return std::make_shared<const ContextualProblem>(*std::move(problem));
}

ContextualPopulation::Params Params(RewardModel reward = {.kind = RewardKind::kRademacher}) {
  return {.problem = Problem(*SphereContexts::Create(5, 2)),
          .reward = reward,
          .size = 1'000'000,
          .seed = 3,
          .replicate = 4};
}

ContextualPopulation Made(const ContextualPopulation::Params& params) {
  auto population = ContextualPopulation::Create(params);
  EXPECT_TRUE(population.ok()) << population.status();
  return *std::move(population);
}

double One(ContextualPopulation& population, std::uint32_t client, ArmId arm, Count count = 1,
           Epoch epoch = 1) {
  const std::vector<Pull> pulls = {{arm, count}};
  std::vector<RewardSum> rewards(1);
  const absl::Status status = population.Answer(NodeId{client}, epoch, pulls, rewards);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(rewards[0].count, count);
  return rewards[0].sum;
}

TEST(ContextualPopulationTest, AnswersDependOnWhoIsAskedAndNotOnTheOrder) {
  ContextualPopulation forwards = Made(Params({.kind = RewardKind::kGaussian, .sd = 1}));
  ContextualPopulation backwards = Made(Params({.kind = RewardKind::kGaussian, .sd = 1}));
  std::vector<double> there, back;
  for (std::uint32_t client = 1; client <= 10; ++client) there.push_back(One(forwards, client, 3));
  for (std::uint32_t client = 10; client >= 1; --client) {
    back.insert(back.begin(), One(backwards, client, 3));
  }
  EXPECT_EQ(there, back);
  EXPECT_NE(there[0], there[1]);
  EXPECT_NE(One(forwards, 1, 3, 1, 2), there[0]);
}

// Without noise the reward is the mean reward of the action that the client picks in its own context.
TEST(ContextualPopulationTest, AClientPicksInItsOwnContext) {
  ContextualPopulation population = Made(Params({.kind = RewardKind::kGaussian, .sd = 0}));
  const auto problem = Params().problem;
  ActionMatrix context(5, 2);
  for (std::uint32_t client = 1; client <= 100; ++client) {
    population.DrawContext(NodeId{client}, 7, context);
    const Vector policy = problem->policies().thetas().row(5);
    EXPECT_DOUBLE_EQ(One(population, client, 5, 1, 7),
                     context.row(PickAction(context, policy)).dot(problem->theta()));
  }
}

// E reward = <g(theta_j), theta*> for every law of contexts and of rewards.
TEST(ContextualPopulationTest, RewardsHaveThePolicysMean) {
  constexpr int kClients = 20'000;
  const std::vector<std::shared_ptr<const ContextualProblem>> problems = {
      Problem(*SphereContexts::Create(5, 2)), Problem(*GaussianContexts::Create(5, 3)),
      Problem(*ClusterContexts::Two(5, 3)), PositiveProblem()};
  for (std::size_t p = 0; p < problems.size(); ++p) {
    for (const RewardModel reward :
         {RewardModel{.kind = RewardKind::kGaussian, .sd = 0.3}, RewardModel{.kind = RewardKind::kRademacher},
          RewardModel{.kind = RewardKind::kUniform}}) {
      ContextualPopulation::Params params = Params(reward);
      params.problem = problems[p];
      ContextualPopulation population = Made(params);
      const ArmId arm = p == 3 ? 1 : 6;
      std::vector<double> rewards;
      for (std::uint32_t client = 1; client <= kClients; ++client)
        rewards.push_back(One(population, client, arm));
      const test::Moments moments = test::MomentsOf(rewards);
      EXPECT_NEAR(moments.mean, problems[p]->linear().means()[arm],
                  5 * std::sqrt(moments.variance / kClients))
          << p;
      // The reward's proxy covers the variance that the contexts add.
      RewardModel varying = reward;
      varying.mean_varies = true;
      EXPECT_LE(moments.variance, 1.05 * varying.proxy() * varying.proxy());
    }
  }
}

TEST(ContextualPopulationTest, AGroupHasTheLawOfItsClients) {
  constexpr std::uint32_t kGroup = 20;
  constexpr int kGroups = 2000;
  ContextualPopulation::Params bernoulli = Params({.kind = RewardKind::kBernoulli});
  bernoulli.problem = PositiveProblem();
  for (const ContextualPopulation::Params& params : {Params(), bernoulli}) {
    ContextualPopulation population = Made(params);
    ASSERT_TRUE(population.AnswersGroups());
    const auto sums = [&](ArmId arm, bool group) {
      std::vector<double> all;
      for (std::uint32_t i = 0; i < kGroups; ++i) {
        const std::uint32_t first = 1 + kGroup * i + (group ? 500'000 : 0);
        RewardSum sum{kGroup, 0};
        if (group) {
          std::vector<RewardSum> parts;
          EXPECT_TRUE(population.AnswerGroup(NodeId{first}, kGroup, 1, arm, parts).ok());
          Count count = 0;
          for (const RewardSum& part : parts) {
            count += part.count;
            sum.sum += part.sum;
          }
          EXPECT_EQ(count, kGroup);
        } else {
          for (std::uint32_t c = 0; c < kGroup; ++c) sum.sum += One(population, first + c, arm);
        }
        all.push_back(sum.sum);
      }
      return all;
    };
    const ArmId best = params.problem->linear().best();
    Eigen::Index worst;
    params.problem->linear().means().minCoeff(&worst);
    EXPECT_TRUE(test::SameLaw(sums(best, true), sums(best, false)));
    EXPECT_TRUE(test::SameLaw(sums(static_cast<ArmId>(worst), true), sums(static_cast<ArmId>(worst), false)));
    EXPECT_FALSE(test::SameLaw(sums(static_cast<ArmId>(worst), true), sums(best, false)));
  }
}

TEST(ContextualPopulationTest, OtherRewardsAreAnsweredClientByClient) {
  EXPECT_FALSE(Made(Params({.kind = RewardKind::kGaussian, .sd = 1})).AnswersGroups());
  EXPECT_FALSE(Made(Params({.kind = RewardKind::kUniform})).AnswersGroups());
}

// Compares R_T, the regret against the best action of every context, with R_T^L, the regret of the linear
// problem. They differ by sums of independent terms of mean 0 in intervals of length 2 |theta|; Hoeffding's
// bound at 1e-6.
TEST(ContextualPopulationTest, RegretAgainstContextsIsThatAgainstPoliciesToSqrtT) {
  const auto params = Params();
  const ContextualPopulation population = Made(params);
  const ContextualProblem& problem = *params.problem;
  ActionMatrix context(5, 2);
  double realised = 0;
  double linear = 0;
  for (std::uint32_t t = 1; t <= 20'000; ++t) {
    const ArmId arm = static_cast<ArmId>(t % 16);
    population.DrawContext(NodeId{t}, 1, context);
    const Vector policy = problem.policies().thetas().row(arm);
    const auto mean = [&](const Vector& by) {
      return context.row(static_cast<Eigen::Index>(PickAction(context, by))).dot(problem.theta());
    };
    const double gap = mean(problem.theta()) - mean(policy);
    ASSERT_GE(gap, 0);
    realised += gap;
    linear += problem.linear().Gap(arm);
    if (t % 1000 != 0) continue;
    const double width = 2 * problem.theta().norm() * std::sqrt(t * std::log(2e6) / 2);
    EXPECT_LE(std::abs(realised - linear), width) << t;
  }
  EXPECT_GT(linear, 20 * std::abs(realised - linear));
}

TEST(ContextualPopulationTest, BadParametersAreRefusedByName) {
  const auto key = [](auto change) {
    ContextualPopulation::Params params = Params();
    change(params);
    const auto population = ContextualPopulation::Create(params);
    return population.ok() ? "accepted" : InputErrorOf(population.status()).value_or(InputError{}).key;
  };
  EXPECT_EQ(key([](auto&) {}), "accepted");
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {-0.1, kNan, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(key([&](auto& params) { params.reward.sd = bad; }), "reward_sd") << bad;
  }
  for (const Count bad : {0, -1}) {
    EXPECT_EQ(key([&](auto& params) { params.size = bad; }), "population") << bad;
  }
  EXPECT_EQ(key([](auto& params) { params.reward.kind = RewardKind::kBernoulli; }), "reward");
}

TEST(ContextualPopulationTest, PoliciesThatDoNotExistAreRefused) {
  ContextualPopulation population = Made(Params());
  std::vector<RewardSum> rewards(1);
  for (const ArmId bad : {-1, 16}) {
    const std::vector<Pull> pulls = {{bad, 1}};
    EXPECT_FALSE(population.Answer(NodeId{1}, 1, pulls, rewards).ok());
    EXPECT_FALSE(population.AnswerGroup(NodeId{1}, 5, 1, bad, rewards).ok());
  }
}

TEST(ContextualPopulationDeathTest, ClientsThatDoNotExistEndTheProgram) {
  ContextualPopulation population = Made(Params());
  std::vector<RewardSum> sum;
  EXPECT_DEATH((void)population.AnswerGroup(NodeId{0}, 1, 1, 0, sum), "first.value");
  EXPECT_DEATH((void)population.AnswerGroup(NodeId{999'999}, 3, 1, 0, sum), "clients");
}

}  // namespace
}  // namespace bandana
