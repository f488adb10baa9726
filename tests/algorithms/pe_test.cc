
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "bandana/bandit/optimal_design.h"
#include "tests/algorithms/elimination_cases.h"
#include "tests/algorithms/elimination_support.h"

namespace bandana {
namespace {

using test::Bare;
using test::DrawnProblem;
using test::Outcome;
using test::ProblemPtr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

PeCase Params(Count horizon) {
  return {.horizon = horizon,
          .beta = std::nullopt,
          .population = horizon,
          .clip = {.reward = {RewardKind::kRademacher}, .client_sd = 0, .fixed_bound = std::nullopt}};
}

absl::StatusOr<EliminationRules> Rules(const ProblemPtr& problem, const PeCase& params) {
  return PeRules(params, problem->actions());
}

TEST(PeParamsTest, BadValuesAreRefusedByName) {
  const ProblemPtr problem = DrawnProblem(3, 10);
  const auto key = [&](auto change) {
    PeCase params = Params(1000);
    change(params);
    return test::RefusedKey(problem, Rules(problem, params));
  };
  EXPECT_EQ(key([](PeCase&) {}), "accepted");
  for (const Count bad : {0, -1}) EXPECT_EQ(key([&](PeCase& p) { p.horizon = bad; }), "horizon");
  for (const double bad : {0.0, 1.0, -1.0, kNan}) {
    EXPECT_EQ(key([&](PeCase& p) { p.beta = bad; }), "beta") << bad;
  }
  for (const Count bad : {Count{0}, Count{-1}, Count{0xffffffff}, Count{10}}) {
    EXPECT_EQ(key([&](PeCase& p) { p.population = bad; }), "people") << bad;
  }
  for (const double bad : {0.5, kNan}) {
    EXPECT_EQ(key([&](PeCase& p) { p.clip.fixed_bound = bad; }), "reward_bound") << bad;
  }
}

TEST(PeParamsTest, TheLevelIsOneOverActionsAndRounds) {
  const ProblemPtr problem = DrawnProblem(3, 10);
  EXPECT_DOUBLE_EQ(Rules(problem, Params(1000))->level, 1e-4);
  PeCase params = Params(1000);
  params.beta = 0.2;
  EXPECT_EQ(Rules(problem, params)->level, 0.2);
}

// A phase plays ceil(2^l pi(x)) rounds of action x, with a new client for each round. A phase that is cut
// short asks nobody.
TEST(PeScheduleTest, PhasesDoubleAndEveryRoundHasAClientOfItsOwn) {
  const ProblemPtr problem = DrawnProblem(3, 12);
  std::vector<Count> horizons = {999, 4096, 20'000};
  for (Count horizon = 1; horizon <= 40; ++horizon) horizons.push_back(horizon);
  for (const Count horizon : horizons) {
    const Outcome run = test::Simulate(problem, Rules(problem, Params(horizon)), Bare());
    ASSERT_TRUE(run.status.ok()) << run.status;
    EXPECT_TRUE(run.finished);
    EXPECT_EQ(run.end.t, horizon);
    Count rounds = 0;
    std::vector<ArmId> active(12);
    for (ArmId arm = 0; arm < 12; ++arm) active[static_cast<std::size_t>(arm)] = arm;
    for (const PhaseRecord& phase : run.history) {
      const auto design = NearOptimalDesign(problem->actions(), active);
      ASSERT_EQ(phase.pulls.size(), design->support.size());
      for (std::size_t i = 0; i < phase.pulls.size(); ++i) {
        EXPECT_EQ(phase.pulls[i].arm, design->support[i]);
        EXPECT_EQ(static_cast<double>(phase.pulls[i].count),
                  std::ceil(std::exp2(phase.epoch) * design->weights[i] - 1e-9));
      }
      EXPECT_EQ(phase.clients, phase.rounds);
      rounds += phase.rounds;
      active = phase.active;
    }
    EXPECT_LE(rounds, horizon);
    EXPECT_EQ(run.end.clients, rounds) << "a phase that was cut short was paid for";
    EXPECT_EQ(run.end.reals, rounds) << "a client answers one number";
  }
}

// The paper's width: (spread sqrt(2 d / h) + 2 s sqrt(S d)) sqrt(2 ln(1/beta)), S = 4 d lnln d + 16.
TEST(PeWidthTest, ThePapersIsAsComputedByHand) {
  PeCase params = Params(1000);
  params.beta = 0.01;
  const std::vector<NoiseLaw> noise(2, NoiseLaw{.proxy = 0.01});
  PhaseFacts facts{.target = 64, .dimension = 2, .pulls = {}, .privacy = noise, .privacy_stddev = 0.01};
  EXPECT_NEAR(PeRules(params, ActionMatrix::Zero(3, 2))->paper_width(facts), 1.102068128898869, 1e-14)
      << "(1 * sqrt(4/64) + 0.02 sqrt(16 * 2)) sqrt(2 ln 100)";
  params.beta = 1e-6;
  params.clip = {.reward = {RewardKind::kGaussian, 0.5}, .client_sd = 0.1, .fixed_bound = std::nullopt};
  facts = {.target = 1024, .dimension = 20, .pulls = {}, .privacy = noise, .privacy_stddev = 0.001};
  EXPECT_NEAR(PeRules(params, ActionMatrix::Zero(3, 20))->paper_width(facts), 1.0086927574456357, 1e-14)
      << "(hypot(0.5, 0.1) sqrt(40/1024) + 0.002 sqrt((80 lnln 20 + 16) 20)) sqrt(2 ln 1e6)";
}

// Without privacy, DP-DPE at alpha = 1 has 2^l clients who each see 2^l rounds; PE has 2^l rounds in all.
TEST(PeRunTest, FindsTheBestActionUnderEveryRewardModel) {
  const ProblemPtr sphere = DrawnProblem(3, 20);
  const ProblemPtr orthant =
      test::Shared(LinearProblem::Draw({.dimension = 3, .actions = 20, .law = ActionLaw::kOrthant}, 1, 0));
  for (const RewardKind kind :
       {RewardKind::kRademacher, RewardKind::kUniform, RewardKind::kBernoulli, RewardKind::kGaussian}) {
    const ProblemPtr& problem = kind == RewardKind::kBernoulli ? orthant : sphere;
    PeCase params = Params(kind == RewardKind::kGaussian ? 20'000 : 3'000'000);
    params.clip.reward = {kind, 0.2};
    if (kind == RewardKind::kGaussian) params.clip.client_sd = 0.05;
    const Outcome run = test::Simulate(problem, Rules(problem, params), Bare());
    ASSERT_TRUE(run.status.ok()) << run.status;
    EXPECT_TRUE(std::binary_search(run.active.begin(), run.active.end(), problem->best()));
    EXPECT_LT(run.active.size(), 20u);
  }
}

TEST(PeRunTest, ABillionRoundsCostNoMoreThanTheirPhases) {
  const ProblemPtr problem = DrawnProblem(3, 12);
  const PeCase params = Params(1'000'000'000);
  for (const Outcome& run :
       {test::Simulate(problem, Rules(problem, params), Bare()),
        test::Simulate(problem, Rules(problem, params), test::MadePrivate<CentralLaplaceMean>({1, 0})),
        test::Simulate(problem, Rules(problem, params), test::MadePrivate<LocalGaussianMean>({1, 1e-5})),
        test::Simulate(problem, Rules(problem, params), test::MadePrivate<ShuffleSumMean>({1, 1e-5}))}) {
    ASSERT_TRUE(run.status.ok()) << run.status;
    EXPECT_EQ(run.end.t, 1'000'000'000);
    EXPECT_EQ(run.history.size(), 28u);
    EXPECT_TRUE(std::binary_search(run.active.begin(), run.active.end(), problem->best()));
  }
}

TEST(PeRunTest, APopulationThatRunsOutIsAnErrorThatSaysWhere) {
  test::ExpectThatSomePopulationsRunOut(30, [](const ProblemPtr& problem, Count population) {
    PeCase params = Params(30);
    params.population = population;
    return Rules(problem, params);
  });
}

TEST(PeRunTest, ActionsOfASubspaceAndRepeatedOnesAreLearned) {
  const ProblemPtr problem = test::PlaneProblem();
  const Outcome run = test::Simulate(problem, Rules(problem, Params(1'000'000)), Bare());
  ASSERT_TRUE(run.status.ok()) << run.status;
  const ArmId best = problem->best();
  EXPECT_THAT(run.active, ::testing::ElementsAre(best % 4, best % 4 + 4)) << "equals stay together";
}

}  // namespace
}  // namespace bandana
