
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "bandana/bandit/optimal_design.h"
#include "bandana/privacy/wire.h"
#include "tests/algorithms/elimination_cases.h"
#include "tests/algorithms/elimination_support.h"
#include "tests/support.h"

namespace bandana {
namespace {

using test::Bare;
using test::DrawnProblem;
using test::Outcome;
using test::ProblemPtr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

PrivateEliminationCase Params(Count horizon) {
  return {.horizon = horizon,
          .beta = std::nullopt,
          .population = horizon,
          .clip = {.reward = {RewardKind::kRademacher}, .client_sd = 0, .fixed_bound = std::nullopt}};
}

absl::StatusOr<EliminationRules> Rules(const ProblemPtr& problem, const PrivateEliminationCase& params) {
  return PrivateEliminationRules(params, problem->actions());
}

// --- schedule

TEST(PrivateEliminationScheduleTest, BatchesGrowByQ) {
  EXPECT_NEAR(BatchGrowth(1'000'000), 2.8581417215487104, 1e-14);  // e 2^(1/ln T)
  EXPECT_EQ(Batches(1'000'000), 12);
  for (const auto& [horizon, batches] : std::vector<std::pair<Count, Epoch>>{
           {8, 1}, {20, 1}, {21, 2}, {54, 2}, {55, 3}, {1000, 5}, {10'000'000, 15}, {1'000'000'000, 19}}) {
    EXPECT_EQ(Batches(horizon), batches) << horizon;
    EXPECT_NEAR(std::log(BatchGrowth(horizon)) * std::log(static_cast<double>(horizon)),
                std::log(2 * static_cast<double>(horizon)), 1e-12);
  }
  const ProblemPtr problem = DrawnProblem(2, 5);
  const EliminationRules rules = *Rules(problem, Params(1000));
  EXPECT_EQ(rules.phases, 5);
  for (Epoch batch = 1; batch <= 5; ++batch) {
    EXPECT_DOUBLE_EQ(rules.rounds(batch), std::pow(BatchGrowth(1000), batch));
  }
}

TEST(PrivateEliminationScheduleTest, BadValuesAreRefusedByName) {
  const ProblemPtr problem = DrawnProblem(3, 10);
  const auto key = [&](auto change) {
    PrivateEliminationCase params = Params(1000);
    change(params);
    return test::RefusedKey(problem, Rules(problem, params));
  };
  EXPECT_EQ(key([](auto&) {}), "accepted");
  for (const Count bad : {7, 1, 0, -5}) EXPECT_EQ(key([&](auto& p) { p.horizon = bad; }), "horizon") << bad;
  EXPECT_EQ(key([](auto& p) { p.horizon = 8; }), "accepted");
  for (const double bad : {0.0, 1.0, -1.0, kNan}) {
    EXPECT_EQ(key([&](auto& p) { p.beta = bad; }), "beta") << bad;
  }
  for (const Count bad : {Count{0}, Count{-1}, Count{0xffffffff}, Count{100}}) {
    EXPECT_EQ(key([&](auto& p) { p.population = bad; }), "people") << bad;
  }
  EXPECT_EQ(key([](auto& p) { p.clip.fixed_bound = 0.9; }), "reward_bound");
}

// The schedule has floor(ln T) - 1 batches with n_ia = ceil(q^i pi(a)) rounds of action a in batch i; then
// the best remaining action is played to the end.
TEST(PrivateEliminationScheduleTest, PlaysTheCoreSetsAndThenTheBest) {
  const ProblemPtr problem = DrawnProblem(3, 15);
  std::vector<Count> horizons = {100, 1000, 20'000, 1'000'000};
  for (Count horizon = 8; horizon <= 40; ++horizon) horizons.push_back(horizon);
  for (const Count horizon : horizons) {
    const double q = BatchGrowth(horizon);
    const Outcome run = test::Simulate(problem, Rules(problem, Params(horizon)), Bare());
    ASSERT_TRUE(run.status.ok()) << run.status;
    EXPECT_TRUE(run.finished);
    EXPECT_EQ(run.end.t, horizon);
    EXPECT_LE(run.history.size(), static_cast<std::size_t>(Batches(horizon)));
    std::vector<ArmId> active(15);
    std::iota(active.begin(), active.end(), 0);
    Count rounds = 0;
    for (const PhaseRecord& batch : run.history) {
      const auto design = NearOptimalDesign(problem->actions(), active);
      ASSERT_EQ(batch.pulls.size(), design->support.size());
      for (std::size_t i = 0; i < batch.pulls.size(); ++i) {
        EXPECT_EQ(batch.pulls[i].arm, design->support[i]);
        EXPECT_EQ(static_cast<double>(batch.pulls[i].count),
                  std::ceil(std::pow(q, batch.epoch) * design->weights[i] - 1e-9));
      }
      EXPECT_EQ(batch.clients, batch.rounds);
      rounds += batch.rounds;
      active = batch.active;
    }
    EXPECT_LE(rounds, horizon);
    EXPECT_EQ(run.end.clients, rounds) << "whoever exploits reports nothing";
    if (horizon >= 1000) {
      EXPECT_EQ(run.history.size(), static_cast<std::size_t>(Batches(horizon)));
    }
  }
}

TEST(PrivateEliminationScheduleTest, TheRestGoesToTheEstimatedBest) {
  const ProblemPtr problem = DrawnProblem(3, 15);
  auto policy = *EliminationPolicy::Create(*Rules(problem, Params(1000)), test::ActionsOf(problem));
  const NoPrivacyMean bare = Bare();
  for (Epoch batch = 1; batch <= 5; ++batch) {
    const Plan plan = *policy.NextPlan();
    ASSERT_EQ(plan.epoch, batch);
    EXPECT_EQ(plan.query.dealt.size(), plan.pulls.size());
    EXPECT_EQ(std::accumulate(plan.query.dealt.begin(), plan.query.dealt.end(), Count{0}),
              plan.query.clients);
    test::Noise noise(1);
    ReportSum sum;
    std::uint32_t first = 1;
    for (std::size_t i = 0; i < plan.pulls.size(); ++i) {  // every reward equals its mean
      const Count count = plan.pulls[i].count;
      EXPECT_EQ(plan.query.dealt[i], count);
      const std::vector<RewardSum> group = {
          {count, static_cast<double>(count) * problem->means()[plan.pulls[i].arm]}};
      const auto report =
          bare.RandomizeGroup(plan.query, static_cast<int>(i), Raw<RewardSums>(group), noise.gen);
      ASSERT_TRUE(report.ok());
      ASSERT_TRUE(
          bare.Add(plan.query,
                   Wire::FromUnits(NodeId{first}, Wire::Units(*report), 0, 0, {}, static_cast<int>(i), count),
                   sum)
              .ok());
      first += static_cast<std::uint32_t>(count);
    }
    ASSERT_TRUE(policy.Learn(plan, *bare.Open(plan.query, *bare.Seal(sum, noise.gen))).ok());
  }
  Count left = 1000;
  for (const PhaseRecord& phase : policy.history()) left -= phase.rounds;
  EXPECT_GT(left, 0);
  const Plan rest = *policy.NextPlan();
  EXPECT_THAT(rest.pulls, ::testing::ElementsAre(Pull{problem->best(), left}));
  EXPECT_EQ(rest.query.clients, 0) << "nobody is asked";
  EXPECT_TRUE(policy.finished());
}

TEST(PrivateEliminationScheduleTest, WithoutACoreSetEveryActiveActionIsPlayedEquallyOften) {
  const ProblemPtr problem = DrawnProblem(3, 15);
  PrivateEliminationCase params = Params(200'000);
  params.core_set = false;
  const Outcome run = test::Simulate(problem, Rules(problem, params), Bare());
  ASSERT_TRUE(run.status.ok()) << run.status;
  ASSERT_EQ(run.history.size(), 11u);
  std::vector<ArmId> active(15);
  std::iota(active.begin(), active.end(), 0);
  for (const PhaseRecord& batch : run.history) {
    ASSERT_EQ(batch.pulls.size(), active.size());
    const double each = std::pow(BatchGrowth(200'000), batch.epoch) / static_cast<double>(active.size());
    for (std::size_t i = 0; i < active.size(); ++i) {
      EXPECT_EQ(batch.pulls[i], (Pull{active[i], static_cast<Count>(std::ceil(each - 1e-9))}));
    }
    active = batch.active;
  }
  EXPECT_LT(active.size(), 15u);
  EXPECT_TRUE(std::binary_search(active.begin(), active.end(), problem->best()));
}

TEST(PrivateEliminationScheduleTest, AppendixAPlaysEveryActiveActionByItsWeights) {
  const ProblemPtr problem = DrawnProblem(3, 15);
  PrivateEliminationCase params = Params(200'000);
  params.design = CoreSetSearch::kFrankWolfe;
  const Outcome run = test::Simulate(problem, Rules(problem, params), Bare());
  ASSERT_TRUE(run.status.ok()) << run.status;
  ASSERT_EQ(run.history.size(), 11u);
  std::vector<ArmId> active(15);
  std::iota(active.begin(), active.end(), 0);
  for (const PhaseRecord& batch : run.history) {
    const auto design = FrankWolfeDesign(problem->actions(), active);
    ASSERT_TRUE(design.ok());
    ASSERT_EQ(batch.pulls.size(), design->support.size());
    if (design->rank() > 1) EXPECT_EQ(batch.pulls.size(), active.size());
    for (std::size_t i = 0; i < batch.pulls.size(); ++i) {
      const double wanted = std::pow(BatchGrowth(200'000), batch.epoch) * design->weights[i];
      EXPECT_EQ(batch.pulls[i].count, static_cast<Count>(std::ceil(wanted - 1e-9)));
    }
    active = batch.active;
  }
  EXPECT_LT(active.size(), 15u);
  EXPECT_TRUE(std::binary_search(active.begin(), active.end(), problem->best()));
}

// There are more actions than rounds. A batch that the horizon cuts short does not count as a batch.
TEST(PrivateEliminationScheduleTest, MoreActionsThanRounds) {
  const ProblemPtr problem = DrawnProblem(3, 200);
  PrivateEliminationCase params = Params(100);
  params.core_set = false;
  params.population = 1;  // no client is needed
  ASSERT_EQ(test::RefusedKey(problem, Rules(problem, params)), "accepted");
  const Outcome run = test::Simulate(problem, Rules(problem, params), Bare());
  ASSERT_TRUE(run.status.ok()) << run.status;
  EXPECT_EQ(run.end.t, 100);
  EXPECT_EQ(run.end.clients, 0);
  EXPECT_TRUE(run.history.empty());
}

// --- gamma_i as in the paper, for T = 1000, |A_i| = 10, d = 3, q^i = 50, five actions in the core set,
// n_i = 53 and ln(4 |A_i| T^2) = 17.504390.

class GammaTest : public ::testing::Test {
 protected:
  double Gamma(const std::vector<NoiseLaw>& laws) const {
    const auto rules = PrivateEliminationRules(Params(1000), ActionMatrix::Zero(10, 3));
    return rules->paper_width({.target = 50,
                               .rounds = 53,
                               .clients = 53,
                               .dimension = 3,
                               .actions = 10,
                               .pulls = pulls_,
                               .privacy = laws});
  }

  template <class P>
  std::vector<NoiseLaw> LawsOf(const P& privatizer) const {
    MeanQuery query{std::vector<Interval>(5, {-1, 1}), 53, {}, {}};
    for (const Pull& pull : pulls_) query.dealt.push_back(pull.count);
    const auto laws = privatizer.Forecast(query);
    EXPECT_TRUE(laws.ok()) << laws.status();
    return *laws;
  }

  const std::vector<Pull> pulls_ = {{0, 20}, {2, 15}, {3, 10}, {7, 7}, {9, 1}};
};

constexpr double kLearning = 2.0496471898594573;  // sqrt(4 d / q^i 17.5)

TEST_F(GammaTest, WithoutPrivacyIsTheLearningTermAlone) {
  EXPECT_NEAR(Gamma({}), kLearning, 1e-13);
  EXPECT_NEAR(Gamma(LawsOf(Bare())), kLearning, 1e-13);
}

// Algorithm 1 adds (2 B d d + 2 d ln(4 |A_i| T^2)) / (epsilon q^i).
TEST_F(GammaTest, CentralIsAlgorithmOnes) {
  const auto laws = LawsOf(test::MadePrivate<CentralLaplaceMean>({0.5, 0}, Calibration::kPaper));
  EXPECT_NEAR(Gamma(laws), 7.450700792758228, 1e-7);
}

// Algorithm 2 adds sqrt(ln(4 |A_i| T^2)) 2 d sqrt(n_i) / (q^i epsilon0), also with an action that is pulled
// once.
TEST_F(GammaTest, LocalIsAlgorithmTwos) {
  const auto laws = LawsOf(test::MadePrivate<LocalLaplaceMean>({0.5, 0}, Calibration::kPaper));
  EXPECT_EQ(laws.back().laplace_terms, 1);
  EXPECT_NEAR(Gamma(laws), 9.359736233699646, 1e-7);
}

// Algorithm 3 is Algorithm 2 with the batch's own epsilon0.
TEST_F(GammaTest, AmplifiedIsAlgorithmThrees) {
  const auto shuffled = test::MadePrivate<ShuffledLaplaceMean>({0.5, 1e-6}, Calibration::kPaper);
  const double epsilon0 = *shuffled.LocalEpsilon(53);
  EXPECT_NEAR(Gamma(LawsOf(shuffled)), kLearning + (9.359736233699646 - kLearning) * 0.5 / epsilon0, 1e-6);
}

// Algorithm 4 is Algorithm 1 with sqrt(180 ln(2/delta)) / epsilon, which is the sum's proxy.
TEST_F(GammaTest, ShuffleSumsAreAlgorithmFours) {
  const double proxy = std::sqrt(180 * std::log(2e6)) / 0.5;
  std::vector<NoiseLaw> laws;
  for (const Pull& pull : pulls_) laws.push_back({.proxy = proxy / static_cast<double>(pull.count)});
  EXPECT_NEAR(Gamma(laws), 278.0618975127894, 1e-9);
}

TEST_F(GammaTest, IsForTheActionsThatAreLeft) {
  const ProblemPtr problem = DrawnProblem(2, 30);
  PrivateEliminationCase params = Params(10'000'000);
  params.width = Width::kPaper;
  const Outcome run = test::Simulate(problem, Rules(problem, params), Bare());
  ASSERT_TRUE(run.status.ok()) << run.status;
  double actions = 30;
  for (const PhaseRecord& batch : run.history) {
    const double q = std::pow(BatchGrowth(10'000'000), batch.epoch);
    EXPECT_NEAR(batch.width, 2 * std::sqrt(8 / q * std::log(4 * actions * 1e14)), 1e-12) << "2 gamma_i";
    actions = static_cast<double>(batch.active.size());
  }
  EXPECT_LT(actions, 30);
}

// --- runs

TEST(PrivateEliminationRunTest, ABillionRoundsCostNoMoreThanTheirBatches) {
  const ProblemPtr problem = DrawnProblem(3, 12);
  const PrivateEliminationCase params = Params(1'000'000'000);
  const auto rules = Rules(problem, params);
  for (const Outcome& run :
       {test::Simulate(problem, rules, Bare()),
        test::Simulate(problem, rules, test::MadePrivate<CentralLaplaceMean>({1, 0})),
        test::Simulate(problem, rules, test::MadePrivate<LocalLaplaceMean>({1, 0})),
        test::Simulate(problem, rules, test::MadePrivate<ShuffleSumMean>({1, 1e-6})),
        test::Simulate(problem, rules, test::MadePrivate<ShuffledLaplaceMean>({1, 1e-6}))}) {
    ASSERT_TRUE(run.status.ok()) << run.status;
    EXPECT_EQ(run.end.t, 1'000'000'000);
    EXPECT_EQ(run.history.size(), 19u);
    EXPECT_TRUE(std::binary_search(run.active.begin(), run.active.end(), problem->best()));
  }
}

TEST(PrivateEliminationRunTest, APopulationThatRunsOutIsAnErrorThatSaysWhere) {
  test::ExpectThatSomePopulationsRunOut(60, [](const ProblemPtr& problem, Count population) {
    PrivateEliminationCase params = Params(60);
    params.population = population;
    return Rules(problem, params);
  });
}

// Arms without structure are unit vectors, and the core set is all of them.
TEST(PrivateEliminationRunTest, UnstructuredArmsAreASpecialCase) {
  ActionMatrix actions = ActionMatrix::Identity(6, 6);
  Vector theta = Vector::Constant(6, 0.2);
  theta[4] = 0.6;
  const ProblemPtr problem = test::Shared(LinearProblem::Create(actions, theta));
  const Outcome run = test::Simulate(problem, Rules(problem, Params(1'000'000)),
                                     test::MadePrivate<CentralLaplaceMean>({1, 0}));
  ASSERT_TRUE(run.status.ok()) << run.status;
  EXPECT_EQ(run.history[0].pulls.size(), 6u);
  EXPECT_THAT(run.active, ::testing::ElementsAre(4));
}

TEST(PrivateEliminationRunTest, ActionsOfASubspaceAndRepeatedOnesAreLearned) {
  const ProblemPtr problem = test::PlaneProblem();
  const ArmId best = problem->best() % 4;
  for (const bool core_set : {true, false}) {
    PrivateEliminationCase params = Params(1'000'000);
    params.core_set = core_set;
    const Outcome run = test::Simulate(problem, Rules(problem, params), Bare());
    ASSERT_TRUE(run.status.ok()) << run.status;
    EXPECT_THAT(run.active, ::testing::ElementsAre(best, best + 4)) << "equals stay together";
  }
}

}  // namespace
}  // namespace bandana
