#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "bandana/bandit/worlds/linear_population.h"
#include "bandana/privacy/mean_privatizers.h"
#include "bandana/privacy/shuffle_means.h"
#include "tests/algorithms/elimination_cases.h"
#include "tests/sim/simulator.h"

namespace bandana {
namespace {

constexpr DpGuarantee kBudget{2, 0.1};

struct Setting {
  std::uint64_t seed = 3;
  std::uint32_t replicate = 0;
  Count horizon = 3000;
  DpGuarantee budget = kBudget;
  const std::atomic<bool>* stop = nullptr;
  double dropout = 0;
  double over_selection = 0;
  double quorum = 1;
};

struct Outcome {
  absl::Status status;
  Checkpoint end;
  std::vector<Checkpoint> checkpoints;
  std::vector<PhaseRecord> history;
};

// Counts what clients are asked, and can raise a stop flag in the middle of a run.
class WatchedPopulation final : public SlotWorld {
 public:
  const Facts& facts() const override {
    static const Facts kNothing;
    return kNothing;
  }

  explicit WatchedPopulation(LinearPopulation population) : population_(std::move(population)) {}
  absl::Status Answer(NodeId client, Epoch epoch, std::span<const Pull> pulls,
                      std::span<RewardSum> rewards) override {
    clients.push_back(client);
    if (flag != nullptr && epoch >= 3) *flag = true;
    return population_.Answer(client, epoch, pulls, rewards);
  }
  std::vector<NodeId> clients;
  std::atomic<bool>* flag = nullptr;

 private:
  LinearPopulation population_;
};

std::shared_ptr<const LinearProblem> Problem(const Setting& setting) {
  auto problem = LinearProblem::Draw({.dimension = 3, .actions = 20}, setting.seed, setting.replicate);
  EXPECT_TRUE(problem.ok());
  return std::make_shared<const LinearProblem>(*std::move(problem));
}

DpDpeCase Params(const Setting& setting) {
  return {.horizon = setting.horizon,
          .alpha = 0.8,
          .beta = std::nullopt,
          .population = 10'000,
          .clip = {.reward = {RewardKind::kGaussian, 0.5}, .client_sd = 0.05, .fixed_bound = std::nullopt}};
}

WatchedPopulation Population(const Setting& setting) {
  const DpDpeCase params = Params(setting);
  auto population = LinearPopulation::Create({.problem = Problem(setting),
                                              .reward = params.clip.reward,
                                              .client_sd = params.clip.client_sd,
                                              .size = params.population,
                                              .seed = setting.seed,
                                              .replicate = setting.replicate});
  EXPECT_TRUE(population.ok());
  return WatchedPopulation(*std::move(population));
}

template <Privatizer P>
Outcome Simulate(const Setting& setting, const P& privatizer, WatchedPopulation& population) {
  const auto problem = Problem(setting);
  auto rules = DpDpeRules(Params(setting), problem->actions());
  rules->over_selection = setting.over_selection;
  rules->quorum = setting.quorum;
  auto server = EliminationServer<P>::Create(
      rules, std::shared_ptr<const ActionMatrix>(problem, &problem->actions()), privatizer);
  EXPECT_TRUE(server.ok());
  Recorder recorder(*problem, {10, 100, 1000, setting.horizon});
  const sim::SimParams params{.seed = setting.seed,
                              .replicate = setting.replicate,
                              .topology = TopologyFor<P>(10'000),
                              .budget_per_client = setting.budget,
                              .dropout = setting.dropout,
                              .stop = setting.stop};
  const absl::Status status = sim::Simulator<EliminationServer<P>, EliminationClient<P>>::Run(
      params, *server, privatizer, population, recorder);
  return {status, recorder.now(), recorder.checkpoints(), server->policy().history()};
}

template <Privatizer P>
Outcome Simulate(const Setting& setting, const P& privatizer) {
  WatchedPopulation population = Population(setting);
  return Simulate(setting, privatizer, population);
}

bool Same(const Outcome& a, const Outcome& b) {
  bool same = a.end.regret == b.end.regret && a.history.size() == b.history.size();
  for (std::size_t i = 0; same && i < a.history.size(); ++i) {
    same = a.history[i].averages == b.history[i].averages && a.history[i].active == b.history[i].active &&
           a.history[i].estimate == b.history[i].estimate && a.history[i].pulls == b.history[i].pulls;
  }
  return same;
}

template <class P>
constexpr bool kIsLaplace = std::is_same_v<P, CentralLaplaceMean> || std::is_same_v<P, LocalLaplaceMean>;

template <class P>
class SimulatorTest : public ::testing::Test {
 protected:
  static P Made(Sampler sampler = Sampler::kFast) {
    if constexpr (std::is_same_v<P, NoPrivacyMean>) {
      return NoPrivacyMean(Declassify("test"));
    } else if constexpr (std::is_same_v<P, ShuffleSumMean>) {
      return *P::Create({kBudget, Calibration::kTight, sampler, Transport::kBits, {0, 1}, 1 << 20, 0.1});
    } else if constexpr (std::is_same_v<P, ShuffledLaplaceMean>) {
      return *P::Create({kBudget, Calibration::kTight, sampler, {0, 1}, 10'000});
    } else if constexpr (kIsLaplace<P>) {
      return *P::Create({kBudget.epsilon, Calibration::kTight, sampler});
    } else {
      return *P::Create({kBudget, Calibration::kTight, sampler});
    }
  }
};
using Privatizers =
    ::testing::Types<NoPrivacyMean, CentralGaussianMean, LocalGaussianMean, CentralLaplaceMean,
                     LocalLaplaceMean, ShuffleSumMean, ShuffledLaplaceMean>;
TYPED_TEST_SUITE(SimulatorTest, Privatizers);

TYPED_TEST(SimulatorTest, IsAFunctionOfSeedAndReplicateAlone) {
  const auto privatizer = this->Made();
  const Outcome first = Simulate({}, privatizer);
  ASSERT_TRUE(first.status.ok()) << first.status;
  EXPECT_EQ(first.end.t, 3000);
  EXPECT_GE(first.history.size(), 9u);
  // Other runs in between have no effect.
  EXPECT_FALSE(Same(first, Simulate({.replicate = 1}, privatizer)));
  EXPECT_FALSE(Same(first, Simulate({.seed = 4}, privatizer)));
  EXPECT_TRUE(Same(first, Simulate({}, privatizer)));
}

TYPED_TEST(SimulatorTest, AsksEachClientOnce) {
  WatchedPopulation population = Population({});
  const Outcome outcome = Simulate({}, this->Made(), population);
  ASSERT_TRUE(outcome.status.ok());
  EXPECT_EQ(static_cast<Count>(population.clients.size()), outcome.end.clients);
  std::sort(population.clients.begin(), population.clients.end());
  EXPECT_EQ(std::adjacent_find(population.clients.begin(), population.clients.end()),
            population.clients.end());
}

TYPED_TEST(SimulatorTest, RecordsRealsRoundsAndCheckpoints) {
  const Outcome outcome = Simulate({}, this->Made());
  Count clients = 0, reals = 0;
  for (const PhaseRecord& phase : outcome.history) {
    clients += phase.clients;
    reals += phase.clients * static_cast<Count>(phase.pulls.size());
  }
  EXPECT_EQ(outcome.end.clients, clients);
  EXPECT_EQ(outcome.end.reals, reals);
  EXPECT_EQ(outcome.end.rounds, static_cast<Count>(outcome.history.size()));
  ASSERT_EQ(outcome.checkpoints.size(), 4u);
  EXPECT_EQ(outcome.checkpoints[3].t, 3000);
  EXPECT_EQ(outcome.checkpoints[3].regret, outcome.end.regret);
  EXPECT_EQ(outcome.checkpoints[3].clients, outcome.end.clients);
  for (std::size_t i = 1; i < 4; ++i)
    EXPECT_GE(outcome.checkpoints[i].regret, outcome.checkpoints[i - 1].regret);
}

// A client's answer does not depend on the trust model, so the first phases differ by the noise only.
TEST(SimulatorPairingTest, ModelsMeetTheSameProblemAndClients) {
  const NoPrivacyMean none(Declassify("test"));
  const auto central = *CentralGaussianMean::Create({kBudget, Calibration::kTight, Sampler::kFast});
  WatchedPopulation first = Population({.horizon = 60}), second = Population({.horizon = 60});
  const Outcome bare = Simulate({.horizon = 60}, none, first);
  const Outcome noisy = Simulate({.horizon = 60}, central, second);
  ASSERT_FALSE(bare.history.empty());
  EXPECT_EQ(bare.history[0].pulls, noisy.history[0].pulls);
  EXPECT_NE(bare.history[0].averages, noisy.history[0].averages);
  const auto clients = static_cast<std::size_t>(bare.history[0].clients);
  EXPECT_EQ(std::vector(first.clients.begin(), first.clients.begin() + clients),
            std::vector(second.clients.begin(), second.clients.begin() + clients));
}

// Whoever does not answer is asked again in the place of another client, until all have answered.
TYPED_TEST(SimulatorTest, WaitsForEveryAnswerUnlessToldOtherwise) {
  const Outcome outcome = Simulate({.dropout = 0.5}, this->Made());
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_TRUE(Same(outcome, Simulate({.dropout = 0.5}, this->Made())));
  const Outcome without = Simulate({}, this->Made());
  ASSERT_FALSE(outcome.history.empty());
  EXPECT_EQ(outcome.history[0].clients, without.history[0].clients);
  EXPECT_EQ(outcome.end.clients, without.end.clients);
}

TYPED_TEST(SimulatorTest, GoesOnWithTheQuorum) {
  if (ShufflePrivatizer<TypeParam>) return;  // all clients must answer a shuffler's question
  const Setting setting{.dropout = 0.3, .quorum = 0.6};
  const Outcome outcome = Simulate(setting, this->Made());
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  Count missed = 0;
  for (std::size_t i = 0; i < outcome.history.size(); ++i) {
    const Count needed = DpDpeClients(Params(setting), static_cast<Epoch>(i + 1));
    EXPECT_GE(static_cast<double>(outcome.history[i].clients), 0.6 * static_cast<double>(needed) - 1e-9);
    missed += needed - outcome.history[i].clients;
  }
  EXPECT_GT(missed, 0);
}

TYPED_TEST(SimulatorTest, AsksMoreThanItNeeds) {
  if (ShufflePrivatizer<TypeParam>) return;  // all clients must answer a shuffler's question
  const Setting setting{.dropout = 0.3, .over_selection = 1};
  WatchedPopulation population = Population(setting);
  const Outcome outcome = Simulate(setting, this->Made(), population);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  Count needed = 0, heard = 0;
  for (std::size_t i = 0; i < outcome.history.size(); ++i) {
    needed += DpDpeClients(Params(setting), static_cast<Epoch>(i + 1));
    heard += outcome.history[i].clients;
  }
  if (TypeParam::kChargesClient) {
    EXPECT_GT(heard, needed) << "who has paid is counted";
  } else {
    EXPECT_EQ(heard, needed);
  }
}

TYPED_TEST(SimulatorTest, StopsWhenAsked) {
  std::atomic<bool> stop = true;
  const Outcome before = Simulate({.stop = &stop}, this->Made());
  EXPECT_EQ(before.status.code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(before.history.empty());

  stop = false;
  WatchedPopulation population = Population({});
  population.flag = &stop;  // raised by the first client of phase 3
  const Outcome during = Simulate({.stop = &stop}, this->Made(), population);
  EXPECT_EQ(during.status.code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(during.history.size(), 2u);

  stop = false;
  EXPECT_TRUE(Simulate({.stop = &stop}, this->Made()).status.ok());
}

TYPED_TEST(SimulatorTest, NothingIsReleasedBeyondTheBudget) {
  std::vector<DpGuarantee> below = {{1.999, 0.1}, {0, 0}};
  if (this->Made().guarantee().delta > 0) below.push_back({2, 0.0999});
  for (const DpGuarantee& budget : below) {
    const Outcome outcome = Simulate({.budget = budget}, this->Made());
    if (this->Made().claims().empty()) {
      EXPECT_TRUE(outcome.status.ok()) << "no claim, no charge";
      continue;
    }
    EXPECT_EQ(outcome.status.code(), absl::StatusCode::kResourceExhausted) << outcome.status;
    EXPECT_TRUE(outcome.history.empty());
    if (TypeParam::kChargesClient) {
      EXPECT_EQ(outcome.end.clients, 0) << "a report left its client";
    }
  }
}

// Each client is asked once, so a budget equal to the claim suffices for any number of phases.
TYPED_TEST(SimulatorTest, TheClaimIsBudgetEnough) {
  const auto privatizer = this->Made();
  EXPECT_TRUE(Simulate({.budget = privatizer.guarantee()}, privatizer).status.ok());
  if (!privatizer.claims().empty()) {
    EXPECT_EQ(privatizer.claims()[0].guarantee, privatizer.guarantee());
  }
}

TYPED_TEST(SimulatorTest, TheExactSamplerRunsToTheEndToo) {
  const Outcome outcome = Simulate({.horizon = 300}, this->Made(Sampler::kExact));
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.end.t, 300);
}

// With almost no noise, a private run keeps the same arms as a non-private one and has the same estimates.
template <class P>
class NoiseToZeroTest : public ::testing::Test {};
using NoisyPrivatizers =
    ::testing::Types<CentralGaussianMean, LocalGaussianMean, CentralLaplaceMean, LocalLaplaceMean>;
TYPED_TEST_SUITE(NoiseToZeroTest, NoisyPrivatizers);

TYPED_TEST(NoiseToZeroTest, ConvergesToNone) {
  constexpr double kHuge = 1e16;
  const Setting setting{.budget = {kHuge, 0.1}};
  const auto privatizer = [&] {
    if constexpr (kIsLaplace<TypeParam>) {
      return *TypeParam::Create({kHuge, Calibration::kTight, Sampler::kFast});
    } else {
      return *TypeParam::Create({{kHuge, 0.1}, Calibration::kTight, Sampler::kFast});
    }
  }();
  const Outcome none = Simulate(setting, NoPrivacyMean(Declassify("test")));
  const Outcome noisy = Simulate(setting, privatizer);
  ASSERT_TRUE(noisy.status.ok()) << noisy.status;
  ASSERT_EQ(none.history.size(), noisy.history.size());
  EXPECT_EQ(none.end.regret, noisy.end.regret);
  for (std::size_t i = 0; i < none.history.size(); ++i) {
    EXPECT_EQ(none.history[i].active, noisy.history[i].active) << i;
    // Some noise is left, so averages are clipped a little more tightly.
    EXPECT_NEAR(noisy.history[i].width, none.history[i].width, 0.02 * none.history[i].width) << i;
    EXPECT_LT((none.history[i].estimate - noisy.history[i].estimate).norm(), 1e-5) << i;
  }
}

// A shuffle sum with a huge budget still rounds to its levels, so it is close to the non-private run up to
// rounding.
TEST(NoiseToZeroShuffleTest, ComesNearNone) {
  const DpGuarantee huge{200, 0.1};
  const Setting setting{.budget = huge};
  const Outcome none = Simulate(setting, NoPrivacyMean(Declassify("test")));
  const Outcome amplified = Simulate(
      setting, *ShuffledLaplaceMean::Create({huge, Calibration::kTight, Sampler::kFast, {0, 1}, 10'000}));
  ASSERT_TRUE(amplified.status.ok()) << amplified.status;
  EXPECT_LT(amplified.end.regret, 3 * none.end.regret);
}

// In the shuffle model clients report to the shuffler and not to the server, so a run without one must not
// start.
TEST(SimulatorShuffleTest, AShuffleModelWithoutAShufflerIsAnError) {
  const auto shuffle = *ShuffleSumMean::Create(
      {kBudget, Calibration::kTight, Sampler::kFast, Transport::kBits, {0, 1}, 1 << 20, 0.1});
  WatchedPopulation population = Population({});
  const auto problem = Problem({});
  auto server = EliminationServer<ShuffleSumMean>::Create(
      DpDpeRules(Params({}), *std::shared_ptr<const ActionMatrix>(problem, &problem->actions())),
      std::shared_ptr<const ActionMatrix>(problem, &problem->actions()), shuffle);
  ASSERT_TRUE(server.ok());
  Recorder recorder(*problem, {});
  const sim::SimParams params{.seed = 3, .topology = Topology::Star(10'000), .budget_per_client = kBudget};
  const absl::Status status =
      sim::Simulator<EliminationServer<ShuffleSumMean>, EliminationClient<ShuffleSumMean>>::Run(
          params, *server, shuffle, population, recorder);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(population.clients.empty()) << "a client was asked";
}

TEST(SimulatorShuffleTest, BitsOnTheWireFollowTheTransport) {
  const auto run = [](Transport transport) {
    return Simulate({}, *ShuffleSumMean::Create(
                            {kBudget, Calibration::kTight, Sampler::kFast, transport, {0, 1}, 1 << 20, 0.1}));
  };
  const Outcome bits = run(Transport::kBits), counts = run(Transport::kCounts);
  ASSERT_TRUE(bits.status.ok() && counts.status.ok());
  EXPECT_TRUE(Same(bits, counts)) << "the server sees the same totals";
  EXPECT_LT(counts.end.bits, bits.end.bits);
}

// A server that asks and never gets enough answers.
class DeafServer final : public Node {
 public:
  absl::Status OnStart(Context& context) override {
    Plan plan{.epoch = 1, .pulls = {{0, 1}}, .query = {.bounds = {{-5, 5}}, .clients = 1}};
    context.Send(NodeId{1}, std::make_shared<const Plan>(std::move(plan)));
    return absl::OkStatus();
  }
  absl::Status OnMessage(Context&, const Message& message) override {
    origins.push_back(message.origin);
    return absl::OkStatus();
  }
  bool finished() const override { return false; }
  std::string Save() const override { return ""; }
  absl::Status Restore(std::string_view) override { return absl::OkStatus(); }
  std::vector<NodeId> origins;
};

TEST(SimulatorEndTest, ARunThatEndsUnfinishedIsAnError) {
  const NoPrivacyMean none(Declassify("test"));
  WatchedPopulation population = Population({});
  const auto problem = Problem({});
  Recorder recorder(*problem, {});
  DeafServer server;
  const sim::SimParams params{.topology = Topology::Star(10'000), .budget_per_client = kBudget};
  const absl::Status status = sim::Simulator<DeafServer, EliminationClient<NoPrivacyMean>>::Run(
      params, server, none, population, recorder);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(server.origins, ::testing::ElementsAre(NodeId{1}));
}

// Asks many clients in a mixed order. Their answers arrive by origin, whatever the order of sending.
class OrderServer final : public Node {
 public:
  absl::Status OnStart(Context& context) override {
    auto plan = std::make_shared<const Plan>(
        Plan{.epoch = 1, .pulls = {{0, 1}}, .query = {.bounds = {{-5, 5}}, .clients = 5}});
    for (const std::uint32_t client : {5, 2, 9, 1, 7}) context.Send(NodeId{client}, plan);
    return absl::OkStatus();
  }
  absl::Status OnMessage(Context&, const Message& message) override {
    origins.push_back(message.origin.value);
    return absl::OkStatus();
  }
  bool finished() const override { return origins.size() == 5; }
  std::string Save() const override { return ""; }
  absl::Status Restore(std::string_view) override { return absl::OkStatus(); }
  std::vector<std::uint32_t> origins;
};

TEST(SimulatorEndTest, MessagesOfASlotArriveByOrigin) {
  const NoPrivacyMean none(Declassify("test"));
  WatchedPopulation population = Population({});
  const auto problem = Problem({});
  Recorder recorder(*problem, {});
  OrderServer server;
  const sim::SimParams params{.topology = Topology::Star(10'000), .budget_per_client = kBudget};
  const absl::Status status = sim::Simulator<OrderServer, EliminationClient<NoPrivacyMean>>::Run(
      params, server, none, population, recorder);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(server.origins, ::testing::ElementsAre(1, 2, 5, 7, 9));
}

}  // namespace
}  // namespace bandana
