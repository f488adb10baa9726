#include <concepts>
#include <future>
#include <type_traits>
#include <vector>

#include "bandana/bandit/recorder.h"
#include "gtest/gtest.h"
#include "tests/algorithms/elimination_cases.h"
#include "tests/service/small_run.h"
#include "tests/sim/simulator.h"

// The one architectural rule: with the same roles and the same seed, the simulator and gRPC make the same
// decisions, bit for bit.
namespace bandana::service {
namespace {

struct Run {
  std::vector<PhaseRecord> history;
  std::vector<Checkpoint> checkpoints;
  std::vector<Pull> plays;
};

using Ranges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

const std::vector<Count> kCheckpoints = {10, 100, 1000, 3000};

// Sealing a bit takes a tenth of a millisecond, so there are fewer bits.
template <class P>
DpDpeCase ParamsFor(const P& privatizer) {
  DpDpeCase params = SmallParams();
  if (RouteOf(privatizer).sealed()) params.horizon = 500;
  return params;
}

template <class P>
Run Simulate(const P& privatizer) {
  auto server = SmallServer(privatizer, ParamsFor(privatizer));
  LinearPopulation population = SmallPopulation();
  Recorder recorder(*SmallProblem(), kCheckpoints);
  const absl::Status status = sim::Simulator<EliminationServer<P>, EliminationClient<P>>::Run(
      {kSeed, kReplicate, TopologyFor<P>(kClients), kBudget}, server, privatizer, population, recorder);
  EXPECT_TRUE(status.ok()) << status;
  return {server.policy().history(), recorder.checkpoints(), {}};
}

struct Reports {
  ServerReport server;
  std::vector<AgentReport> agents;
  ShufflerReport shuffler;
};

template <class P>
struct NoShuffler {
  NoShuffler(const ServerThread<P>&, std::optional<InsecureSeed>, const P&) {}
  std::string address() const { return ""; }
  absl::StatusOr<ShufflerReport> Result() { return ShufflerReport(); }
};

template <class P>
struct ShufflerBeside : ShufflerThread<P> {
  ShufflerBeside(const ServerThread<P>& server, std::optional<InsecureSeed> seed, const P& privatizer)
      : ShufflerThread<P>(Params(server.address(), seed), privatizer) {}
  static ShufflerParams Params(const std::string& server, std::optional<InsecureSeed> seed) {
    ShufflerParams params = SmallShufflerParams(server);
    params.insecure_seed = seed;
    return params;
  }
};

template <class P>
auto ShufflerTypeOf() {
  if constexpr (ShufflePrivatizer<P>) {
    return std::type_identity<ShufflerBeside<P>>();
  } else {
    return std::type_identity<NoShuffler<P>>();
  }
}
template <class P>
using ShufflerIfAny = typename decltype(ShufflerTypeOf<P>())::type;

template <class P>
Run Federate(const P& privatizer, const Ranges& ranges, std::optional<InsecureSeed> seed, Reports& reports) {
  auto server = SmallServer(privatizer, ParamsFor(privatizer));
  Recorder recorder(*SmallProblem(), kCheckpoints);
  Run run;
  ServerParams params = SmallServerParams();
  params.insecure_seed = seed;
  params.route = RouteOf(privatizer);
  params.on_share = [&](Epoch epoch, const MeanQuery& query) {
    recorder.Report(epoch, static_cast<Count>(query.bounds.size()), privatizer.ReportBits(query).value());
  };
  ServerThread<P> service(params, server, [&](std::span<const Pull> pulls) {
    recorder.Play(pulls);
    run.plays.insert(run.plays.end(), pulls.begin(), pulls.end());
  });
  ShufflerIfAny<P> shuffler(service, seed, privatizer);
  std::vector<std::future<absl::StatusOr<AgentReport>>> agents;
  for (const auto& [first, last] : ranges) {
    AgentParams agent = SmallAgentParams(service.address(), first, last);
    agent.route = params.route;
    agent.shuffler = shuffler.address();
    agent.insecure_seed = seed;
    agents.push_back(
        std::async(std::launch::async, [&privatizer, agent] { return RunSmallAgent(agent, privatizer); }));
  }
  for (auto& agent : agents) {
    const auto report = agent.get();
    EXPECT_TRUE(report.ok()) << report.status();
    if (report.ok()) reports.agents.push_back(*report);
  }
  const auto report = service.Result();
  EXPECT_TRUE(report.ok()) << report.status();
  if (report.ok()) reports.server = *report;
  const auto shuffled = shuffler.Result();
  EXPECT_TRUE(shuffled.ok()) << shuffled.status();
  if (shuffled.ok()) reports.shuffler = *shuffled;
  recorder.Finish();
  run.history = server.policy().history();
  run.checkpoints = recorder.checkpoints();
  return run;
}

void ExpectSame(const Run& a, const Run& b) {
  ASSERT_EQ(a.history.size(), b.history.size());
  for (std::size_t i = 0; i < a.history.size(); ++i) {
    SCOPED_TRACE(i);
    const PhaseRecord& x = a.history[i];
    const PhaseRecord& y = b.history[i];
    EXPECT_EQ(x.epoch, y.epoch);
    EXPECT_EQ(x.pulls, y.pulls);
    EXPECT_EQ(x.rounds, y.rounds);
    EXPECT_EQ(x.clients, y.clients);
    EXPECT_EQ(x.privacy_stddev, y.privacy_stddev);
    EXPECT_EQ(x.width, y.width);
    EXPECT_EQ(x.averages, y.averages);
    EXPECT_EQ(x.estimate, y.estimate);
    EXPECT_EQ(x.active, y.active);
  }
  ASSERT_EQ(a.checkpoints.size(), b.checkpoints.size());
  for (std::size_t i = 0; i < a.checkpoints.size(); ++i) {
    SCOPED_TRACE(i);
    const Checkpoint& x = a.checkpoints[i];
    const Checkpoint& y = b.checkpoints[i];
    EXPECT_EQ(x.t, y.t);
    EXPECT_EQ(x.regret, y.regret);
    EXPECT_EQ(x.clients, y.clients);
    EXPECT_EQ(x.reals, y.reals);
    EXPECT_EQ(x.bits, y.bits);
    EXPECT_EQ(x.rounds, y.rounds);
    EXPECT_EQ(x.best_action_rate, y.best_action_rate);
  }
}

const Ranges kOneAgent = {{1, 2000}};
const Ranges kThreeAgents = {{1301, 2000}, {1, 7}, {8, 1300}};

template <class P, Transport kTransport = Transport::kCounts>
struct Model {
  using Privatizer = P;
  static P Make() {
    if constexpr (std::same_as<P, ShuffleSumMean>) {
      return SmallShuffleSum(kTransport);
    } else if constexpr (std::same_as<P, ShuffledLaplaceMean>) {
      return SmallShuffledLaplace();
    } else if constexpr (requires { P::Create(SmallPrivacy()); }) {
      return P::Create(SmallPrivacy()).value();
    } else {
      return SmallNoPrivacy();
    }
  }
};

template <class M>
class Federation : public testing::Test {};
using Models = testing::Types<Model<NoPrivacyMean>, Model<CentralGaussianMean>, Model<LocalGaussianMean>,
                              Model<ShuffleSumMean, Transport::kCounts>,
                              Model<ShuffleSumMean, Transport::kBits>, Model<ShuffledLaplaceMean>>;
TYPED_TEST_SUITE(Federation, Models);

TYPED_TEST(Federation, DecidesAsTheSimulatorBitForBit) {
  const auto privatizer = TypeParam::Make();
  const Run simulated = Simulate(privatizer);
  const bool sealed = RouteOf(privatizer).sealed();
  ASSERT_GE(simulated.history.size(), sealed ? 5u : 8u);
  if (!sealed) {
    EXPECT_LT(simulated.history.back().active.size(), 30u)
        << "nothing was eliminated: the comparison says little";
  }
  for (const Ranges& ranges : {kOneAgent, kThreeAgents}) {
    SCOPED_TRACE(ranges.size());
    Reports reports;
    const Run real = Federate(privatizer, ranges, kInsecureSeed, reports);
    ExpectSame(simulated, real);

    Count clients = 0;
    Count reals = 0;
    for (const PhaseRecord& phase : real.history) {
      clients += phase.clients;
      reals += phase.clients * static_cast<Count>(phase.pulls.size());
    }
    EXPECT_EQ(reports.server.shares, clients);
    EXPECT_EQ(reports.server.reals, reals);
    Count sent = 0;
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
    for (const AgentReport& agent : reports.agents) {
      sent += agent.shares;
      bytes_in += agent.bytes_in;
      bytes_out += agent.bytes_out;
      EXPECT_EQ(agent.repeats, 0);
    }
    EXPECT_EQ(sent, clients);
    if constexpr (ShufflePrivatizer<typename TypeParam::Privatizer>) {
      EXPECT_EQ(reports.shuffler.shares, clients);
      EXPECT_EQ(reports.shuffler.mixes, static_cast<Count>(real.history.size()));
      const std::uint64_t in = bytes_in + reports.server.bytes_in + reports.shuffler.bytes_in;
      const std::uint64_t out = bytes_out + reports.server.bytes_out + reports.shuffler.bytes_out;
      EXPECT_LE(in, out);
      // An agent ends at the server's Stop, and does not wait for that of the shuffler, which has 4 bytes.
      EXPECT_LE(out - in, 4 * reports.agents.size());
    } else {
      EXPECT_EQ(bytes_in, reports.server.bytes_out);
      EXPECT_EQ(bytes_out, reports.server.bytes_in);
    }
    Count rounds = 0;
    for (const Pull& pull : real.plays) rounds += pull.count;
    EXPECT_EQ(rounds, ParamsFor(privatizer).horizon);
  }
}

TYPED_TEST(Federation, ChargesWhereTheNoiseIsDrawn) {
  const auto privatizer = TypeParam::Make();
  Reports reports;
  Federate(privatizer, kOneAgent, kInsecureSeed, reports);
  const DpGuarantee nothing{0, 0};
  const DpGuarantee claimed = privatizer.claims().empty() ? nothing : privatizer.claims().front().guarantee;
  EXPECT_EQ(reports.server.spent, TypeParam::Privatizer::kChargesAnalyzer ? claimed : nothing);
  ASSERT_EQ(reports.agents.size(), 1u);
  EXPECT_EQ(reports.agents[0].spent, TypeParam::Privatizer::kChargesClient ? claimed : nothing);
}

TYPED_TEST(Federation, WithoutASeedNoTwoRunsAskTheSameClients) {
  const auto privatizer = TypeParam::Make();
  Reports reports;
  const Run first = Federate(privatizer, kThreeAgents, std::nullopt, reports);
  const Run second = Federate(privatizer, kThreeAgents, std::nullopt, reports);
  ASSERT_FALSE(first.history.empty());
  ASSERT_FALSE(second.history.empty());
  EXPECT_NE(first.history.back().averages, second.history.back().averages);
}

// --- every round has a client of its own

template <class P>
EliminationServer<P> DealingServer(const P& privatizer) {
  const PeCase params{.horizon = 700, .population = kClients, .clip = SmallParams().clip};
  return EliminationServer<P>::Create(PeRules(params, *SmallActions()), SmallActions(), privatizer).value();
}

template <class P>
void ExpectSameDealt(const P& privatizer) {
  auto simulated = DealingServer(privatizer);
  LinearPopulation population = SmallPopulation();
  Recorder recorder(*SmallProblem(), {});
  const absl::Status status = sim::Simulator<EliminationServer<P>, EliminationClient<P>>::Run(
      {kSeed, kReplicate, TopologyFor<P>(kClients), kBudget}, simulated, privatizer, population, recorder);
  ASSERT_TRUE(status.ok()) << status;

  auto served = DealingServer(privatizer);
  ServerParams params = SmallServerParams();
  params.route = RouteOf(privatizer);
  ServerThread<P> service(params, served, [](std::span<const Pull>) {});
  std::vector<std::future<absl::StatusOr<AgentReport>>> agents;
  for (const auto& [first, last] : kThreeAgents) {
    AgentParams agent = SmallAgentParams(service.address(), first, last);
    agent.route = params.route;
    agents.push_back(
        std::async(std::launch::async, [&privatizer, agent] { return RunSmallAgent(agent, privatizer); }));
  }
  for (auto& agent : agents) {
    const auto report = agent.get();
    EXPECT_TRUE(report.ok()) << report.status();
  }
  const auto report = service.Result();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->shares, recorder.now().clients);
  EXPECT_GE(served.policy().history().size(), 5u);
  ExpectSame({simulated.policy().history(), {}, {}}, {served.policy().history(), {}, {}});
}

TEST(DealtFederation, DecidesAsTheSimulatorDoes) {
  ExpectSameDealt(SmallNoPrivacy());
  ExpectSameDealt(CentralGaussianMean::Create(SmallPrivacy()).value());
  ExpectSameDealt(LocalGaussianMean::Create(SmallPrivacy()).value());
}

}  // namespace
}  // namespace bandana::service
