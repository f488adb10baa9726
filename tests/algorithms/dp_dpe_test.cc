#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bandana/bandit/linear_problem.h"
#include "bandana/privacy/calibration/gaussian.h"
#include "bandana/privacy/mean_privatizers.h"
#include "tests/algorithms/dp_dpe_support.h"
#include "tests/support.h"

namespace bandana {
namespace {
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

using test::Outcome;

template <Privatizer P>
Outcome Simulate(const test::ProblemPtr& problem, const DpDpeCase& params, const P& privatizer) {
  return test::Simulate(problem, DpDpeRules(params, problem->actions()), privatizer);
}

// --- schedule and parameters

TEST(DpDpeClientsTest, IsTheCeilingOfAPower) {
  DpDpeCase params = Params(1, 0.5);
  EXPECT_EQ(DpDpeClients(params, 1), 2);
  EXPECT_EQ(DpDpeClients(params, 2), 2) << "2^1 exactly";
  EXPECT_EQ(DpDpeClients(params, 3), 3);
  EXPECT_EQ(DpDpeClients(params, 14), 128) << "2^7 exactly";
  params.alpha = 0.8;
  EXPECT_EQ(DpDpeClients(params, 5), 16) << "2^4, though 0.8 is no double";
  EXPECT_EQ(DpDpeClients(params, 10), 256);
  params.alpha = 0.28;
  EXPECT_EQ(DpDpeClients(params, 25), 128) << "2^7, though 0.28 * 25 is more than 7 in doubles";
  params.alpha = 1;
  for (Epoch phase = 1; phase <= 40; ++phase) EXPECT_EQ(DpDpeClients(params, phase), Count{1} << phase);
  params.alpha = 1000;
  EXPECT_GT(DpDpeClients(params, 60), 0) << "saturates";
}

TEST(DpDpeClientsTest, TheFixedScheduleIsFixed) {
  DpDpeCase params = Params(1);
  params.schedule = ClientSchedule::kFixed;
  params.fixed_clients = 97;
  for (const Epoch phase : {1, 2, 20}) EXPECT_EQ(DpDpeClients(params, phase), 97);
}

// Without elimination N_l is constant, so U is the mean of |U_l| over the phases that the horizon completes.
TEST(DpDpeClientsTest, TheEqualNumberWeighsPhasesByTheActionsPlayed) {
  const auto problem = *LinearProblem::Draw({.dimension = 3, .actions = 30}, 1, 0);
  DpDpeCase params = Params(2'000, 0.5);
  params.schedule = ClientSchedule::kFixed;
  params.clip = {.reward = {RewardKind::kGaussian, 1e6}, .client_sd = 0, .fixed_bound = std::nullopt};
  const auto blind = DpDpeRules(params, problem.actions());
  ASSERT_TRUE(blind.ok()) << blind.status();
  EXPECT_EQ(blind->clients(1), 9) << "2 + 2 + 3 + 4 + 6 + 8 + 12 + 16 + 23 over 9 phases";
  EXPECT_EQ(blind->clients(9), 9);
  params.clip.reward.sd = 0.1;
  const auto seeing = DpDpeRules(params, problem.actions());
  ASSERT_TRUE(seeing.ok()) << seeing.status();
  EXPECT_LT(seeing->clients(1), 9) << "the late phases, with many clients, play few actions";
  EXPECT_GE(seeing->clients(1), 3);
  params.horizon = 1;
  EXPECT_EQ(DpDpeRules(params, problem.actions())->clients(1), 1) << "no phase at all";
}

// Remark 5.3: alpha > 1 gives more clients than rounds, and alpha = 2/3 gives the shuffle model's best rate.
TEST(DpDpeClientsTest, AlphaAboveOneAndTwoThirds) {
  DpDpeCase params = Params(1, 1.2);
  std::vector<Count> clients;
  for (Epoch phase = 1; phase <= 9; ++phase) clients.push_back(DpDpeClients(params, phase));
  EXPECT_THAT(clients, ::testing::ElementsAre(3, 6, 13, 28, 64, 148, 338, 777, 1783));
  params.alpha = 2. / 3;
  clients.clear();
  for (Epoch phase = 1; phase <= 9; ++phase) clients.push_back(DpDpeClients(params, phase));
  EXPECT_THAT(clients, ::testing::ElementsAre(2, 3, 4, 7, 11, 16, 26, 41, 64));
}

std::string KeyFor(const DpDpeCase& params) {
  const auto problem = DrawnProblem(3, 10);
  const auto server = EliminationServer<NoPrivacyMean>::Create(DpDpeRules(params, *ActionsOf(problem)),
                                                               ActionsOf(problem), Bare());
  if (server.ok()) return "accepted";
  const auto error = InputErrorOf(server.status());
  return error.has_value() ? error->key : "no input error";
}

TEST(DpDpeParamsTest, BadValuesAreRefusedByName) {
  EXPECT_EQ(KeyFor(Params(100)), "accepted");
  for (const Count bad : {0, -1}) EXPECT_EQ(KeyFor(Params(bad)), "horizon") << bad;
  for (const double bad : {0.0, -0.5, kNan, kInfinity}) EXPECT_EQ(KeyFor(Params(100, bad)), "alpha") << bad;
  for (const double bad : {0.0, 1.0, -0.5, 2.0, kNan}) {
    DpDpeCase params = Params(100);
    params.beta = bad;
    EXPECT_EQ(KeyFor(params), "beta") << bad;
  }
  for (const Count bad : {0, -3}) {
    DpDpeCase params = Params(100, kNan);  // alpha is not used here
    params.schedule = ClientSchedule::kFixed;
    params.fixed_clients = bad;
    EXPECT_EQ(KeyFor(params), "fixed_clients") << bad;
    params.fixed_clients = 5;
    EXPECT_EQ(KeyFor(params), "accepted");
  }
  for (const double bad : {0.99, 0.0, -1.0, kNan, kInfinity}) {
    DpDpeCase params = Params(100);
    params.clip.fixed_bound = bad;
    EXPECT_EQ(KeyFor(params), "reward_bound") << bad;
    params.clip.fixed_bound = 1;
    EXPECT_EQ(KeyFor(params), "accepted");
  }
  for (const Count bad : {Count{0}, Count{-1}, Count{0xffffffff}}) {
    DpDpeCase params = Params(100);
    params.population = bad;
    EXPECT_EQ(KeyFor(params), "people") << bad;
  }
}

TEST(DpDpeParamsTest, NoActionsAreRefused) {
  const auto none = std::make_shared<const ActionMatrix>(0, 3);
  EXPECT_FALSE(EliminationServer<NoPrivacyMean>::Create(DpDpeRules(Params(100), *none), none, Bare()).ok());
}

TEST(DpDpeParamsTest, APopulationThatCannotLastIsRefusedBeforeTheFirstRound) {
  DpDpeCase params = Params(10'000);
  params.population = 50;
  const auto server = EliminationServer<NoPrivacyMean>::Create(
      DpDpeRules(params, *ActionsOf(DrawnProblem(3, 10))), ActionsOf(DrawnProblem(3, 10)), Bare());
  ASSERT_FALSE(server.ok());
  EXPECT_EQ(InputErrorOf(server.status())->key, "people");
  EXPECT_EQ(InputErrorOf(server.status())->value, "50");
  params.horizon = 40;
  EXPECT_EQ(KeyFor(params), "accepted");
}

TEST(DpDpeRunTest, APopulationThatRunsOutIsAnErrorThatSaysWhere) {
  test::ExpectThatSomePopulationsRunOut(12, [](const test::ProblemPtr& problem, Count population) {
    DpDpeCase params = Params(30);
    params.population = population;
    return DpDpeRules(params, problem->actions());
  });
}

// --- rounds and clients

// P1, Table II.
TEST(DpDpeRunTest, AsksAsManyUsersAsTableTwo) {
  const auto problem = DrawnProblem(20, 1000);
  const std::vector<std::pair<double, Count>> rows = {
      {0.5, 437}, {0.6, 997}, {0.7, 2321}, {0.8, 5532}, {0.9, 13381}};
  for (const auto& [alpha, users] : rows) {
    DpDpeCase params = Params(50'000, alpha);
    params.clip.reward.sd = 1;
    params.clip.client_sd = 0.1;
    const Outcome run = Simulate(problem, params, Bare());
    ASSERT_TRUE(run.status.ok()) << run.status;
    EXPECT_EQ(run.end.clients, users) << alpha;
    EXPECT_EQ(run.history.size(), 14u) << alpha;
    EXPECT_EQ(run.end.t, 50'000) << alpha;
  }
}

TEST(DpDpeRunTest, PlaysExactlyTheHorizon) {
  const auto problem = DrawnProblem(3, 12);
  std::vector<Count> horizons = {1000, 4096, 12'345, 1'000'000};
  for (Count horizon = 1; horizon <= 80; ++horizon) horizons.push_back(horizon);
  for (const Count horizon : horizons) {
    const Outcome run = Simulate(problem, Params(horizon), Bare());
    ASSERT_TRUE(run.status.ok()) << run.status;
    EXPECT_EQ(run.end.t, horizon);
    EXPECT_TRUE(run.finished);
    Count asked = 0, rounds = 0;
    for (const PhaseRecord& phase : run.history) {
      asked += phase.clients;
      rounds += phase.rounds;
      EXPECT_EQ(phase.clients, DpDpeClients(Params(horizon), phase.epoch));
      EXPECT_EQ(phase.epoch, static_cast<Epoch>(&phase - run.history.data()) + 1);
      EXPECT_TRUE(std::is_sorted(phase.pulls.begin(), phase.pulls.end())) << "plays go in ascending order";
    }
    EXPECT_LE(rounds, horizon);
    EXPECT_EQ(run.end.clients, asked) << "a phase that was cut short was paid for";
    EXPECT_EQ(run.end.rounds, static_cast<Count>(run.history.size()));
  }
}

TEST(DpDpeRunTest, APhaseThatEndsWithTheHorizonCountsAndOneRoundLessDoesNot) {
  const auto problem = DrawnProblem(3, 12);
  const auto simulate = [&](Count horizon) {
    DpDpeCase params = Params(horizon);
    params.beta = 0.01;  // the default depends on the horizon, and the designs would too
    return Simulate(problem, params, Bare());
  };
  const Outcome longer = simulate(2000);
  ASSERT_GE(longer.history.size(), 7u);
  Count end = 0, clients = 0;
  for (std::size_t phases = 1; phases <= 7; ++phases) {
    end += longer.history[phases - 1].rounds;
    const Outcome shorter = simulate(end - 1);
    EXPECT_EQ(shorter.history.size(), phases - 1);
    EXPECT_EQ(shorter.end.t, end - 1);
    EXPECT_EQ(shorter.end.clients, clients);
    EXPECT_TRUE(shorter.finished);
    clients += longer.history[phases - 1].clients;
    const Outcome exactly = simulate(end);
    EXPECT_EQ(exactly.history.size(), phases);
    EXPECT_EQ(exactly.end.t, end);
    EXPECT_EQ(exactly.end.clients, clients);
    EXPECT_TRUE(exactly.finished);
    EXPECT_EQ(exactly.active, longer.history[phases - 1].active);
  }
  DpDpeCase one_action = Params(2);
  const Outcome single = Simulate(DrawnProblem(2, 1), one_action, Bare());
  ASSERT_EQ(single.history.size(), 1u) << "2 rounds of one action are phase 1";
  EXPECT_EQ(single.end.clients, 2);
  one_action.horizon = 1;
  const Outcome cut = Simulate(DrawnProblem(2, 1), one_action, Bare());
  EXPECT_TRUE(cut.status.ok() && cut.finished);
  EXPECT_TRUE(cut.history.empty());
  EXPECT_EQ(cut.end.clients, 0);
}

TEST(DpDpeRunTest, AHorizonOfThousandsOfMillionsCostsNoMore) {
  DpDpeCase params = Params(Count{1} << 40, 0.2);
  const Outcome run = Simulate(DrawnProblem(3, 12), params, Bare());
  EXPECT_TRUE(run.status.ok()) << run.status;
  EXPECT_EQ(run.end.t, Count{1} << 40);
  EXPECT_GE(run.history.size(), 38u);
}

// --- learning

TEST(DpDpeRunTest, TheActiveSetShrinksToTheBest) {
  for (std::uint32_t replicate = 0; replicate < 5; ++replicate) {
    const auto problem = DrawnProblem(3, 30, replicate);
    const Outcome run = Simulate(problem, Params(200'000), Bare());
    ASSERT_TRUE(run.status.ok());
    std::vector<ArmId> before(30);
    for (ArmId arm = 0; arm < 30; ++arm) before[static_cast<std::size_t>(arm)] = arm;
    for (const PhaseRecord& phase : run.history) {
      EXPECT_TRUE(std::includes(before.begin(), before.end(), phase.active.begin(), phase.active.end()));
      EXPECT_FALSE(phase.active.empty());
      for (const Pull& pull : phase.pulls) {
        EXPECT_TRUE(std::binary_search(before.begin(), before.end(), pull.arm))
            << "an eliminated action is played";
      }
      EXPECT_TRUE(std::binary_search(phase.active.begin(), phase.active.end(), problem->best()));
      before = phase.active;
    }
    EXPECT_LT(run.active.size(), 30u);
    EXPECT_EQ(run.active, before);
  }
}

TEST(DpDpeRunTest, EveryWidthAndPrivatizerKeepsTheBestAction) {
  const auto problem = DrawnProblem(3, 20);
  const GaussianParams budget{{5, 0.1}, Calibration::kTight, Sampler::kFast};
  for (const Width width : {Width::kExact, Width::kPaper}) {
    DpDpeCase params = Params(100'000);
    params.width = width;
    for (const Outcome& run :
         {Simulate(problem, params, Bare()), Simulate(problem, params, *CentralGaussianMean::Create(budget)),
          Simulate(problem, params, *LocalGaussianMean::Create(budget))}) {
      ASSERT_TRUE(run.status.ok()) << run.status;
      EXPECT_EQ(run.end.t, 100'000);
      EXPECT_TRUE(std::binary_search(run.active.begin(), run.active.end(), problem->best()));
    }
  }
}

TEST(DpDpeRunTest, HistoryStatesTheNoiseThatWasUsed) {
  const auto problem = DrawnProblem(3, 20);
  const GaussianParams budget{{5, 0.1}, Calibration::kTight, Sampler::kFast};
  const auto central = *CentralGaussianMean::Create(budget);
  const DpDpeCase params = Params(5000);
  const Outcome run = Simulate(problem, params, central);
  ASSERT_GE(run.history.size(), 5u);
  for (const PhaseRecord& phase : run.history) {
    const MeanQuery query{phase.bounds, phase.clients};
    const double multiplier = *TightGaussianMultiplier(budget.nominal);
    const double of_sum = multiplier * GridMean::Sensitivity(query) * GridMean::kUnit;
    EXPECT_NEAR(phase.privacy_stddev * static_cast<double>(phase.clients) / of_sum, 1, 1e-8);
    EXPECT_EQ(phase.averages.size(), phase.pulls.size());
  }
  for (const PhaseRecord& phase : Simulate(problem, params, Bare()).history)
    EXPECT_EQ(phase.privacy_stddev, 0);
}

// At this epsilon the noise is a few units of 2^-30, so private decisions equal the non-private ones.
TEST(DpDpeRunTest, TheNoiseFreeLimitIsTheNonPrivateRun) {
  const GaussianParams limit{{1e18, 0.1}, Calibration::kTight, Sampler::kExact};
  const GaussianParams private_enough{{0.1, 0.01}, Calibration::kTight, Sampler::kExact};
  for (std::uint32_t replicate = 0; replicate < 5; ++replicate) {
    const auto problem = DrawnProblem(3, 30, replicate);
    const Outcome bare = Simulate(problem, Params(20'000), Bare());
    const Outcome central = Simulate(problem, Params(20'000), *CentralGaussianMean::Create(limit));
    const Outcome local = Simulate(problem, Params(20'000), *LocalGaussianMean::Create(limit));
    const Outcome noisy = Simulate(problem, Params(20'000), *CentralGaussianMean::Create(private_enough));
    ASSERT_TRUE(bare.status.ok() && central.status.ok() && local.status.ok() && noisy.status.ok());
    for (const Outcome* run : {&central, &local}) {
      ASSERT_EQ(run->history.size(), bare.history.size());
      EXPECT_EQ(run->end.regret, bare.end.regret);
      for (std::size_t i = 0; i < bare.history.size(); ++i) {
        EXPECT_EQ(run->history[i].active, bare.history[i].active);
        EXPECT_EQ(run->history[i].pulls, bare.history[i].pulls);
        EXPECT_LT((run->history[i].estimate - bare.history[i].estimate).norm(), 1e-6);
        EXPECT_GT(run->history[i].privacy_stddev, 0);
      }
    }
    EXPECT_NE(noisy.end.regret, bare.end.regret) << "noise changes nothing: there is nothing to see here";
  }
}

TEST(DpDpeRunTest, RunsAtAnyAlphaAndWithClientsWhoAreAlike) {
  const auto problem = DrawnProblem(3, 20);
  const auto central = *CentralGaussianMean::Create({{5, 0.1}, Calibration::kTight, Sampler::kFast});
  for (const double alpha : {2. / 3, 1.0, 1.2}) {
    for (const double client_sd : {0.0, 0.05}) {  // sigma = 0 is the case of differentially private linear
                                                  // bandits
      DpDpeCase params = Params(5000, alpha);
      params.clip.client_sd = client_sd;
      for (const Outcome& run : {Simulate(problem, params, Bare()), Simulate(problem, params, central)}) {
        ASSERT_TRUE(run.status.ok()) << run.status;
        EXPECT_EQ(run.end.t, 5000);
        EXPECT_TRUE(std::binary_search(run.active.begin(), run.active.end(), problem->best()));
        for (const PhaseRecord& phase : run.history) {
          EXPECT_EQ(phase.clients, DpDpeClients(params, phase.epoch));
        }
      }
    }
  }
}

// Eq. (3): (sqrt(2 d / (U h)) + sigma / sqrt(U) + 2 s sqrt(S d)) sqrt(2 ln(1/beta)), with U clients, h
// rounds, privacy noise s and support S.
TEST(DpDpeWidthTest, ThePapersIsAsComputedByHand) {
  DpDpeCase params = Params(1000);
  params.beta = 0.01;
  params.clip.client_sd = 0.1;
  const auto rules = DpDpeRules(params, ActionMatrix::Zero(3, 2));
  const PhaseFacts facts{
      .target = 64, .clients = 16, .dimension = 2, .pulls = {}, .privacy = {}, .privacy_stddev = 0.01};
  // (sqrt(4 / 1024) + 0.025 + 0.02 sqrt(32)) sqrt(2 ln 100)
  EXPECT_NEAR(rules->paper_width(facts), (0.0625 + 0.025 + 0.113137084989848) * 3.034854258770293, 1e-13);
}

TEST(DpDpeRunTest, ASingleActionIsPlayedToTheEnd) {
  for (const Width width : {Width::kExact, Width::kPaper}) {
    DpDpeCase params = Params(1000);
    params.width = width;
    const Outcome run = Simulate(DrawnProblem(4, 1), params, Bare());
    ASSERT_TRUE(run.status.ok()) << run.status;
    EXPECT_EQ(run.end.t, 1000);
    EXPECT_EQ(run.end.regret, 0);
    EXPECT_THAT(run.active, ::testing::ElementsAre(0));
  }
}

TEST(DpDpeRunTest, ActionsOfASubspaceAreLearned) {
  ActionMatrix actions(8, 5);
  actions.setZero();
  for (Eigen::Index i = 0; i < 8; ++i) {  // on a circle in a plane, in five dimensions
    const double angle = 0.7 * static_cast<double>(i);
    actions.row(i) << 0.6 * std::cos(angle), 0.8 * std::cos(angle), 0, std::sin(angle), 0;
  }
  const auto problem = Shared(LinearProblem::Create(actions, Vector::Constant(5, 0.4)));
  const Outcome run = Simulate(problem, Params(100'000), Bare());
  ASSERT_TRUE(run.status.ok()) << run.status;
  EXPECT_THAT(run.active, ::testing::ElementsAre(problem->best()));
}

TEST(DpDpeRunTest, TwoEqualBestActionsBothStay) {
  ActionMatrix actions(4, 2);
  actions << 0, 1, 1, 0, 1, 0, -1, 0;
  const auto problem = Shared(LinearProblem::Create(actions, (Vector(2) << 0.9, 0.0).finished()));
  const Outcome run = Simulate(problem, Params(100'000), Bare());
  ASSERT_TRUE(run.status.ok()) << run.status;
  EXPECT_THAT(run.active, ::testing::ElementsAre(1, 2));
}

}  // namespace
}  // namespace bandana
