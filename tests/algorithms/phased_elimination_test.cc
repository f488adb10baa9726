#include "bandana/algorithms/elimination/phased_elimination.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "tests/algorithms/elimination_support.h"

// Tests of the parts that all elimination papers share, with rules that are in no paper.
namespace bandana {
namespace {

using test::Bare;
using test::DrawnProblem;
using test::Outcome;
using test::ProblemPtr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

EliminationRules Rules(Count horizon) {
  return {.horizon = horizon,
          .level = 1e-3,
          .rounds = [](Epoch phase) { return 10 * std::pow(3, phase); },
          .clients = [](Epoch phase) { return Count{5} * phase; },
          .paper_width = [](const PhaseFacts&) { return 0.1; },
          .clip = {.reward = {RewardKind::kRademacher}, .client_sd = 0, .fixed_bound = std::nullopt},
          .population = 100'000};
}

TEST(CeilCountTest, ForgivesWhatRoundingAdds) {
  EXPECT_EQ(CeilCount(3), 3);
  EXPECT_EQ(CeilCount(std::nextafter(3, 4)), 3);
  EXPECT_EQ(CeilCount(3 + 0.9e-9), 3);
  EXPECT_EQ(CeilCount(3 + 1.1e-9), 4);
  EXPECT_EQ(CeilCount(3.5), 4);
  EXPECT_EQ(CeilCount(0), 0);
}

TEST(EliminationRulesTest, BadOnesAreRefusedByName) {
  const ProblemPtr problem = DrawnProblem(3, 10);
  const auto key = [&](auto change) {
    EliminationRules rules = Rules(1000);
    change(rules);
    return test::RefusedKey(problem, rules);
  };
  EXPECT_EQ(key([](auto&) {}), "accepted");
  EXPECT_EQ(key([](auto& r) { r.horizon = 0; }), "horizon");
  for (const double bad : {0.0, 1.0, -1.0, kNan}) {
    EXPECT_EQ(key([&](auto& r) { r.level = bad; }), "beta") << bad;
  }
  for (const double bad : {0.0, 0.99, kNan, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(key([&](auto& r) { r.clip.fixed_bound = bad; }), "reward_bound") << bad;
  }
  for (const Count bad : {Count{0}, Count{-1}, Count{0xffffffff}, Count{4}}) {
    EXPECT_EQ(key([&](auto& r) { r.population = bad; }), "people") << bad;
  }
  const auto logistic = [](EliminationRules& r) {
    r.link = Link::kLogistic;
    r.clip.reward = {RewardKind::kBernoulli};
  };
  EXPECT_EQ(key(logistic), "accepted");
  const auto also = [&](auto change) {
    return key([&](EliminationRules& r) {
      logistic(r);
      change(r);
    });
  };
  EXPECT_EQ(also([](auto& r) { r.link = Link::kProbit; }), "accepted");
  EXPECT_EQ(also([](auto& r) { r.link = Link::kPoisson; }), "mean");
  EXPECT_EQ(also([](auto& r) { r.width = Width::kPaper; }), "width");
  EXPECT_EQ(also([](auto& r) { r.clip.reward = {RewardKind::kRademacher}; }), "reward");
  EXPECT_EQ(also([](auto& r) { r.clip.client_sd = 0.1; }), "accepted");
  EXPECT_EQ(also([](auto& r) { r.clip.client_sd = 1.1; }), "client_sd");
}

// The population must suffice for all phases that are sure to complete. Without a core set a support can be
// as large as the active set, so fewer phases are sure to complete.
TEST(EliminationRulesTest, APopulationIsCheckedForTheSupportsThereCanBe) {
  const ProblemPtr problem = DrawnProblem(2, 500);
  EliminationRules rules = Rules(400);  // with a core set, the first two of the phases of 30, 90 and 270
                                        // rounds are sure: 5 + 10 clients
  rules.population = 14;
  EXPECT_EQ(test::RefusedKey(problem, rules), "people");
  rules.population = 15;
  EXPECT_EQ(test::RefusedKey(problem, rules), "accepted");
  rules.core_set = false;  // with supports of up to 500 actions no phase is sure
  rules.population = 1;
  EXPECT_EQ(test::RefusedKey(problem, rules), "accepted");
  const Outcome run = test::Simulate(problem, rules, Bare());
  ASSERT_TRUE(run.status.ok()) << run.status;
  EXPECT_EQ(run.end.t, 400);
  EXPECT_EQ(run.end.clients, 0);
}

TEST(EliminationRunTest, RulesDecideRoundsClientsAndPhases) {
  const ProblemPtr problem = DrawnProblem(3, 10);
  EliminationRules rules = Rules(5000);
  rules.phases = 3;
  const Outcome watched = test::Simulate(problem, rules, Bare());
  ASSERT_TRUE(watched.status.ok()) << watched.status;
  ASSERT_EQ(watched.history.size(), 3u);
  EXPECT_EQ(watched.end.t, 5000);
  for (const PhaseRecord& phase : watched.history) {
    const double target = 10 * std::pow(3, phase.epoch);
    EXPECT_EQ(phase.clients, 5 * phase.epoch);
    EXPECT_GE(static_cast<double>(phase.rounds), target - 1e-9);
    EXPECT_LE(static_cast<double>(phase.rounds), target + static_cast<double>(phase.pulls.size()));
  }
  EXPECT_EQ(watched.end.reals, 5 * static_cast<Count>(watched.history[0].pulls.size()) +
                                   10 * static_cast<Count>(watched.history[1].pulls.size()) +
                                   15 * static_cast<Count>(watched.history[2].pulls.size()));
  rules.clients = nullptr;
  const Outcome dealt = test::Simulate(problem, rules, Bare());
  ASSERT_TRUE(dealt.status.ok()) << dealt.status;
  EXPECT_EQ(dealt.history[0].pulls, watched.history[0].pulls);
  for (const PhaseRecord& phase : dealt.history) EXPECT_EQ(phase.clients, phase.rounds);
}

TEST(EliminationRunTest, ThePapersWidthIsWhatItIsCompared) {
  const ProblemPtr problem = DrawnProblem(3, 10);
  EliminationRules rules = Rules(2000);
  rules.width = Width::kPaper;
  std::vector<PhaseFacts> seen;
  rules.paper_width = [&](const PhaseFacts& facts) {
    seen.push_back(facts);
    return 0.15;
  };
  const Outcome run = test::Simulate(problem, rules, test::MadePrivate<CentralGaussianMean>({5, 0.1}));
  ASSERT_TRUE(run.status.ok()) << run.status;
  ASSERT_EQ(seen.size(), run.history.size());
  std::vector<ArmId> before(10);
  std::iota(before.begin(), before.end(), 0);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const PhaseRecord& phase = run.history[i];
    EXPECT_EQ(seen[i].epoch, phase.epoch);
    EXPECT_EQ(seen[i].target, 10 * std::pow(3, phase.epoch));
    EXPECT_EQ(seen[i].rounds, phase.rounds);
    EXPECT_EQ(seen[i].clients, phase.clients);
    EXPECT_EQ(seen[i].dimension, 3);
    EXPECT_EQ(seen[i].actions, static_cast<int>(before.size()));
    EXPECT_EQ(seen[i].privacy_stddev, phase.privacy_stddev);
    EXPECT_EQ(phase.width, 0.3);
    double best = -2;
    for (const ArmId arm : before) best = std::max(best, problem->actions().row(arm).dot(phase.estimate));
    std::vector<ArmId> kept;
    for (const ArmId arm : before) {
      if (!(best - problem->actions().row(arm).dot(phase.estimate) > 0.3)) kept.push_back(arm);
    }
    EXPECT_EQ(phase.active, kept);
    before = phase.active;
  }
  EXPECT_LT(before.size(), 10u);
}

TEST(EliminationRunTest, AWarmStartChangesNothingThatIsPromised) {
  const ProblemPtr problem = DrawnProblem(4, 60);
  EliminationRules rules = Rules(200'000);
  rules.clients = nullptr;
  rules.population = 200'000;
  const Outcome cold = test::Simulate(problem, rules, Bare());
  rules.warm_start = true;
  const Outcome warm = test::Simulate(problem, rules, Bare());
  ASSERT_TRUE(cold.status.ok() && warm.status.ok());
  EXPECT_EQ(warm.history[0].pulls, cold.history[0].pulls) << "there is nothing to start from";
  EXPECT_LT(warm.active.size(), 30u);
  for (const PhaseRecord& phase : warm.history) {
    EXPECT_LE(phase.pulls.size(), static_cast<std::size_t>(DesignSupportBound(4)));
    EXPECT_TRUE(std::binary_search(phase.active.begin(), phase.active.end(), problem->best()));
  }
}

}  // namespace
}  // namespace bandana
