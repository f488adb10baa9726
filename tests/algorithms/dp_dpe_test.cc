
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
#include "bandana/bandit/worlds/linear_population.h"
#include "bandana/federation/drive.h"
#include "bandana/federation/releases.h"
#include "bandana/privacy/calibration/gaussian.h"
#include "bandana/privacy/mean_privatizers.h"
#include "bandana/privacy/wire.h"
#include "bandana/sim/simulator.h"
#include "tests/algorithms/elimination_cases.h"
#include "tests/support.h"

namespace bandana {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr DpGuarantee kPlenty{1e30, 1};

NoPrivacyMean Bare() { return NoPrivacyMean(Declassify("test")); }

std::shared_ptr<const LinearProblem> Shared(absl::StatusOr<LinearProblem> problem) {
  EXPECT_TRUE(problem.ok()) << problem.status();
  return std::make_shared<const LinearProblem>(*std::move(problem));
}

std::shared_ptr<const LinearProblem> DrawnProblem(int dimension, int actions, std::uint32_t replicate = 0) {
  return Shared(LinearProblem::Draw({.dimension = dimension, .actions = actions}, 1, replicate));
}

std::shared_ptr<const ActionMatrix> ActionsOf(const std::shared_ptr<const LinearProblem>& problem) {
  return {problem, &problem->actions()};
}

DpDpeCase Params(Count horizon, double alpha = 0.8) {
  return {.horizon = horizon,
          .alpha = alpha,
          .beta = std::nullopt,
          .population = 100'000,
          .clip = {.reward = {RewardKind::kGaussian, 0.5}, .client_sd = 0.05, .fixed_bound = std::nullopt}};
}

struct Outcome {
  absl::Status status;
  Checkpoint end;
  std::vector<PhaseRecord> history;
  std::vector<ArmId> active;
  bool finished = false;
};

template <Privatizer P>
Outcome Simulate(const std::shared_ptr<const LinearProblem>& problem, const DpDpeCase& params,
                 const P& privatizer) {
  auto population = LinearPopulation::Create({.problem = problem,
                                              .reward = params.clip.reward,
                                              .client_sd = params.clip.client_sd,
                                              .size = params.population,
                                              .seed = 1});
  EXPECT_TRUE(population.ok()) << population.status();
  auto server =
      EliminationServer<P>::Create(DpDpeRules(params, *ActionsOf(problem)), ActionsOf(problem), privatizer);
  if (!server.ok()) return {.status = server.status()};
  Recorder recorder(*problem, {});
  const sim::SimParams sim{
      .seed = 1, .topology = Topology::Star(params.population), .budget_per_client = kPlenty};
  using Simulator = sim::Simulator<EliminationServer<P>, EliminationClient<P>>;
  const absl::Status status = Simulator::Run(sim, *server, privatizer, *population, recorder);
  return {status, recorder.now(), server->policy().history(), server->policy().active(), server->finished()};
}

// A minimal driver that hands messages to roles one by one.
class HandContext final : public Context {
 public:
  explicit HandContext(NodeId self, Releases& releases)
      : links_(Topology::Star(1000).LinksOf(self)), releases_(releases), noise_(self.value + 1) {}

  const Links& links() const override { return links_; }
  void Send(NodeId to, Payload payload) override { sent.push_back({to, std::move(payload)}); }
  void Play(std::span<const Pull> pulls) override {
    for (const Pull& pull : pulls) played += pull.count;
  }
  CoinGen& coin(Epoch) override { return coins_.gen; }
  absl::StatusOr<Report> ReleaseOnce(const ReleaseKey& key, const Charge& charge,
                                     absl::FunctionRef<absl::StatusOr<Report>(NoiseGen&)> draw) override {
    return releases_.Once(key, charge, noise_.gen, draw);
  }

  Message From(NodeId origin, Payload body) { return {origin, origin, 0, ++seq_, std::move(body)}; }

  std::vector<std::pair<NodeId, Payload>> sent;
  Count played = 0;

 private:
  Links links_;
  Releases& releases_;
  test::Coins coins_{77};
  test::Noise noise_;
  Seq seq_ = 0;
};

std::shared_ptr<const Plan> PlanIn(const Payload& payload) {
  const auto* plan = std::get_if<std::shared_ptr<const Plan>>(&payload);
  return plan == nullptr ? nullptr : *plan;
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

// P1's DPE-FixedU at T = 10^6 and alpha = 0.5: its 18 phases have 1750 reports.
TEST(DpDpeClientsTest, TheEqualNumberIsTheGrowingSchedulesMean) {
  EXPECT_EQ(EqualClients(0.5, 1'000'000), 97);
  EXPECT_EQ(EqualClients(0.8, 1), 1) << "no phase at all";
  EXPECT_EQ(EqualClients(0.8, 2), 2) << "one of ceil(2^0.8)";
  EXPECT_EQ(EqualClients(1, 6), 3) << "2 and 4";
  DpDpeCase params = Params(1'000'000, 0.5);
  params.schedule = ClientSchedule::kFixed;
  for (const Epoch phase : {1, 18}) EXPECT_EQ(DpDpeClients(params, phase), 97);
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

// The check before the run assumes the largest support. A run with a smaller support gets further and can
// still run out of clients.
TEST(DpDpeRunTest, APopulationThatRunsOutIsAnErrorThatSaysWhere) {
  int ran_out = 0;
  for (Count population = 1; population <= 12; ++population) {
    DpDpeCase params = Params(30);
    params.population = population;
    const auto problem = DrawnProblem(2, 2);
    if (!EliminationPolicy::Create(*DpDpeRules(params, problem->actions()), ActionsOf(problem)).ok())
      continue;
    const Outcome run = Simulate(problem, params, Bare());
    if (run.status.ok()) continue;
    ++ran_out;
    ASSERT_TRUE(InputErrorOf(run.status).has_value()) << run.status;
    EXPECT_EQ(InputErrorOf(run.status)->key, "people");
    EXPECT_THAT(std::string(run.status.message()), ::testing::HasSubstr("runs out in phase"));
    EXPECT_FALSE(run.finished);
    EXPECT_LE(run.end.clients, population);
  }
  EXPECT_GT(ran_out, 0);
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

// --- roles, message by message

class ServerTest : public ::testing::Test {
 protected:
  ServerTest() {
    auto server = EliminationServer<NoPrivacyMean>::Create(DpDpeRules(Params(200), *ActionsOf(problem_)),
                                                           ActionsOf(problem_), Bare());
    EXPECT_TRUE(server.ok());
    server_ = std::make_unique<EliminationServer<NoPrivacyMean>>(*std::move(server));
    EXPECT_TRUE(server_->OnStart(context_).ok());
  }

  Message ShareFrom(NodeId client, Epoch epoch, std::size_t size) {
    return context_.From(client,
                         Share{epoch, 0, Wire::FromUnits(client, std::vector<std::int64_t>(size, 1 << 20))});
  }

  const std::shared_ptr<const LinearProblem> problem_ = DrawnProblem(2, 5);
  Releases releases_{kPlenty};
  HandContext context_{kServerNode, releases_};
  std::unique_ptr<EliminationServer<NoPrivacyMean>> server_;
};

TEST_F(ServerTest, AsksEachClientOnceInTheWholeRun) {
  std::set<NodeId> asked;
  std::size_t next = 0;
  while (!server_->finished()) {
    ASSERT_LT(next, context_.sent.size()) << "the server waits for nobody";
    const auto [client, payload] = context_.sent[next++];
    EXPECT_TRUE(asked.insert(client).second) << client.value;
    EXPECT_GE(client.value, 1u);
    EXPECT_LE(client.value, 100'000u);
    const auto plan = PlanIn(payload);
    ASSERT_NE(plan, nullptr);
    ASSERT_TRUE(server_->OnMessage(context_, ShareFrom(client, plan->epoch, plan->pulls.size())).ok());
  }
  EXPECT_EQ(next, context_.sent.size()) << "not all who were asked were heard";
  EXPECT_EQ(context_.played, 200);
  EXPECT_GE(server_->policy().history().size(), 4u);
}

TEST_F(ServerTest, RepeatedSharesChangeNothing) {
  ASSERT_EQ(context_.sent.size(), 2u);  // ceil(2^0.8) clients
  const auto plan = PlanIn(context_.sent[0].second);
  const Message first = ShareFrom(context_.sent[0].first, 1, plan->pulls.size());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(server_->OnMessage(context_, first).ok());
  EXPECT_TRUE(server_->policy().history().empty()) << "one client's repeats stood in for another";
  const Message second = ShareFrom(context_.sent[1].first, 1, plan->pulls.size());
  ASSERT_TRUE(server_->OnMessage(context_, second).ok());
  ASSERT_EQ(server_->policy().history().size(), 1u);
  const double average = static_cast<double>(1 << 20) * GridMean::kUnit;
  for (const double entry : server_->policy().history()[0].averages) EXPECT_EQ(entry, average);
  const std::size_t sent = context_.sent.size();
  ASSERT_TRUE(server_->OnMessage(context_, first).ok());
  ASSERT_TRUE(server_->OnMessage(context_, second).ok());
  EXPECT_EQ(server_->policy().history().size(), 1u);
  EXPECT_EQ(context_.sent.size(), sent);
}

TEST_F(ServerTest, SharesOfStrangersAndOfOtherPhasesAreIgnored) {
  const std::size_t size = PlanIn(context_.sent[0].second)->pulls.size();
  std::uint32_t stranger = 1;
  while (NodeId{stranger} == context_.sent[0].first || NodeId{stranger} == context_.sent[1].first) ++stranger;
  EXPECT_TRUE(server_->OnMessage(context_, ShareFrom(NodeId{stranger}, 1, size)).ok());
  EXPECT_TRUE(server_->OnMessage(context_, ShareFrom(context_.sent[0].first, 2, size)).ok());
  EXPECT_TRUE(server_->OnMessage(context_, ShareFrom(context_.sent[0].first, 0, size)).ok());
  EXPECT_TRUE(server_->OnMessage(context_, ShareFrom(context_.sent[1].first, 1, size)).ok());
  EXPECT_TRUE(server_->policy().history().empty());
  EXPECT_TRUE(server_->OnMessage(context_, ShareFrom(context_.sent[0].first, 1, size)).ok());
  EXPECT_EQ(server_->policy().history().size(), 1u);
}

TEST_F(ServerTest, PlansAndSharesOfTheWrongSizeAreRefused) {
  const auto plan = PlanIn(context_.sent[0].second);
  EXPECT_EQ(server_->OnMessage(context_, context_.From(context_.sent[0].first, plan)).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(
      server_->OnMessage(context_, ShareFrom(context_.sent[0].first, 1, plan->pulls.size() + 1)).ok());
}

class ClientTest : public ::testing::Test {
 protected:
  static std::shared_ptr<Plan> PlanOf(Epoch epoch) {
    return std::make_shared<Plan>(Plan{
        .epoch = epoch, .pulls = {{0, 2}, {1, 3}}, .query = {.bounds = {{-1, 1}, {-2, 2}}, .clients = 4}});
  }
  absl::Status Give(std::shared_ptr<const Plan> plan) {
    return client_.OnMessage(context_, context_.From(kServerNode, std::move(plan)));
  }
  absl::Status Observe() {
    const std::vector<RewardSum> rewards = {{2, 1.0}, {3, 0.75}};
    return client_.Observe(context_, Raw<RewardSums>(rewards));
  }

  Releases releases_{{1, 0.1}};
  HandContext context_{NodeId{9}, releases_};
  LocalGaussianMean privatizer_ =
      *LocalGaussianMean::Create({{1, 0.1}, Calibration::kTight, Sampler::kExact});
  EliminationClient<LocalGaussianMean> client_{privatizer_};
};

TEST_F(ClientTest, WatchesOnePhaseAndReportsOnce) {
  EXPECT_TRUE(client_.Act(context_).empty()) << "plays before it is asked";
  ASSERT_TRUE(Give(PlanOf(3)).ok());
  const auto pulls = client_.Act(context_);
  EXPECT_THAT(std::vector<Pull>(pulls.begin(), pulls.end()), ::testing::ElementsAre(Pull{0, 2}, Pull{1, 3}));
  ASSERT_TRUE(Observe().ok());
  ASSERT_EQ(context_.sent.size(), 1u);
  EXPECT_EQ(context_.sent[0].first, kServerNode);
  const Share& share = std::get<Share>(context_.sent[0].second);
  EXPECT_EQ(share.epoch, 3);
  EXPECT_EQ(share.report.size(), 2u);
  EXPECT_NE(Wire::Units(share.report)[0], 1 << 29) << "no noise";
  EXPECT_EQ(releases_.odometer().spent(), (DpGuarantee{1, 0.1}));
  EXPECT_TRUE(client_.Act(context_).empty()) << "plays twice";
  EXPECT_TRUE(client_.finished());
}

TEST_F(ClientTest, RepeatsAreIgnored) {
  ASSERT_TRUE(Give(PlanOf(3)).ok());
  ASSERT_TRUE(Give(PlanOf(3)).ok());
  ASSERT_TRUE(Observe().ok());
  EXPECT_TRUE(Give(PlanOf(3)).ok());
  EXPECT_TRUE(client_.Act(context_).empty());
  EXPECT_EQ(context_.sent.size(), 1u);
}

TEST_F(ClientTest, ARetriedReportIsTheSameReport) {
  ASSERT_TRUE(Give(PlanOf(3)).ok());
  ASSERT_TRUE(Observe().ok());
  ASSERT_TRUE(Observe().ok());
  ASSERT_EQ(context_.sent.size(), 2u);
  EXPECT_EQ(Wire::Units(std::get<Share>(context_.sent[0].second).report),
            Wire::Units(std::get<Share>(context_.sent[1].second).report));
  EXPECT_EQ(releases_.odometer().spent(), (DpGuarantee{1, 0.1}));
}

TEST_F(ClientTest, TakesPartInOnePhaseOnly) {
  ASSERT_TRUE(Give(PlanOf(3)).ok());
  EXPECT_EQ(Give(PlanOf(4)).code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(Observe().ok());
  EXPECT_EQ(Give(PlanOf(4)).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Give(PlanOf(2)).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(ClientTest, SharesAreRefused) {
  EXPECT_EQ(client_.OnMessage(context_, context_.From(kServerNode, Share{})).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(client_.Act(context_).empty());
  EXPECT_FALSE(client_.finished());
}

TEST_F(ClientTest, NothingLeavesBeyondTheBudget) {
  Releases poor({0.5, 0.1});
  HandContext context(NodeId{9}, poor);
  ASSERT_TRUE(client_.OnMessage(context, context.From(kServerNode, PlanOf(3))).ok());
  const std::vector<RewardSum> rewards = {{2, 1.0}, {3, 0.75}};
  EXPECT_EQ(client_.Observe(context, Raw<RewardSums>(rewards)).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(context.sent.empty());
}

}  // namespace
}  // namespace bandana
