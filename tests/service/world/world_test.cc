#include "tests/service/world/world.h"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bandana/bandit/recorder.h"
#include "bandana/federation/graph_shapes.h"
#include "bandana/privacy/ledger/verifier.h"
#include "bandana/service/agent_machine.h"
#include "bandana/service/lock_step.h"
#include "bandana/service/names.h"
#include "bandana/service/peer.h"
#include "bandana/service/roster.h"
#include "bandana/service/server_machine.h"
#include "bandana/service/shuffler_machine.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck.h"
#include "rapidcheck/gtest.h"
#include "tests/service/failing.h"
#include "tests/service/flooding.h"
#include "tests/service/small_run.h"
#include "tests/sim/simulator.h"

// Whole deployments in one thread, with random schedules and faults: docs/operations.md says what must hold.
namespace bandana::service {
namespace {

constexpr Count kPeople = 240;
constexpr Count kHorizon = 300;

const std::shared_ptr<const LinearProblem>& TinyProblem() {
  static const auto& problem =
      *new std::shared_ptr<const LinearProblem>(std::make_shared<const LinearProblem>(
          LinearProblem::Draw({.dimension = 2, .actions = 8}, kSeed, kReplicate).value()));
  return problem;
}

const LinearPopulation& TinyPopulation() {
  static const auto& population = *new LinearPopulation(LinearPopulation::Create({.problem = TinyProblem(),
                                                                                  .reward = {},
                                                                                  .client_sd = 0.1,
                                                                                  .size = kPeople,
                                                                                  .seed = kSeed,
                                                                                  .replicate = kReplicate})
                                                            .value());
  return population;
}

template <class P>
EliminationServer<P> TinyServer(const P& privatizer) {
  const DpDpeCase params{.horizon = kHorizon,
                         .alpha = 0.8,
                         .schedule = ClientSchedule::kFixed,
                         .fixed_clients = 24,
                         .population = kPeople,
                         .clip = {.reward = {}, .client_sd = 0.1}};
  const std::shared_ptr<const ActionMatrix> actions(TinyProblem(), &TinyProblem()->actions());
  return EliminationServer<P>::Create(DpDpeRules(params, *actions), actions, privatizer).value();
}

LedgerHeader Header(std::optional<InsecureSeed> seed) {
  return {.deployment = "world",
          .configuration = Sha256("digest"),
          .void_reason = seed ? "a test with a known seed" : "",
          .limits = {.per_unit = {kBudget.epsilon, kBudget.delta}}};
}

Runtime::Params RuntimeOf(const std::string& self, const std::vector<std::string>& dialed) {
  Runtime::Params params{.self = self, .digest = "digest", .hides_errors = false, .linger = absl::Hours(10)};
  for (const std::string& link : dialed) params.partners[link] = {.dialed = true};
  if (self != kServerName) params.run_of = kServerName;
  params.window = 3;
  return params;
}

template <class P>
class ServerActor final : public Actor {
 public:
  ServerActor(const P& privatizer, std::optional<InsecureSeed> seed)
      : params_(SmallServerParams()), server_(TinyServer(privatizer)) {
    params_.clients = kPeople;
    params_.insecure_seed = seed;
    params_.route = RouteOf(privatizer);
    machine_.emplace(params_, server_, [this](std::span<const Pull> pulls) {
      plays.insert(plays.end(), pulls.begin(), pulls.end());
    });
  }
  Machine& machine() override { return *machine_; }
  const std::vector<PhaseRecord>& history() const { return server_.policy().history(); }
  std::vector<Pull> plays;

 private:
  ServerParams params_;
  EliminationServer<P> server_;
  std::optional<ServerMachine> machine_;
};

template <class P>
class AgentActor final : public Actor {
 public:
  AgentActor(const P& privatizer, std::optional<InsecureSeed> seed, std::uint32_t first, std::uint32_t last)
      : params_(SmallAgentParams("", first, last)), population_(TinyPopulation()) {
    params_.insecure_seed = seed;
    params_.route = RouteOf(privatizer);
    machine_ = MakePlanAgent(
        params_, [&privatizer](NodeId) { return std::make_unique<EliminationClient<P>>(privatizer); },
        population_);
  }
  Machine& machine() override { return *machine_; }

 private:
  AgentParams params_;
  LinearPopulation population_;
  std::unique_ptr<AgentMachine> machine_;
};

template <class P>
class ShufflerActor final : public Actor {
 public:
  ShufflerActor(const P& privatizer, std::optional<InsecureSeed> seed)
      : route_(RouteOf(privatizer)), role_(privatizer), machine_(kPeople, Make(seed)) {}
  Machine& machine() override { return machine_; }

 private:
  std::unique_ptr<Mixer> Make(std::optional<InsecureSeed> seed) {
    if (route_.sealed()) return std::make_unique<BitMixer>(route_);
    return std::make_unique<RoleMixer>(role_, kPeople, seed);
  }
  Route route_;
  Shuffler<P> role_;
  ShufflerMachine machine_;
};

using Ranges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

struct Outcome {
  std::string wrong;
  std::vector<PhaseRecord> history;
  std::vector<Pull> plays;
};

using Wrap = std::function<std::unique_ptr<store::Store>(store::Store&)>;

// Adds a server, three agents and, if reports pass one, a shuffler. Returns their names. At the end sets what
// the server has learned.
template <class P>
std::vector<std::string> AddStar(SimulatedWorld& world, const P& privatizer, std::optional<InsecureSeed> seed,
                                 const Wrap& wrap, std::vector<PhaseRecord>* history,
                                 std::vector<Pull>* plays) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& self, const std::vector<std::string>& dialed,
                       std::function<std::unique_ptr<Actor>()> make) {
    names.push_back(self);
    world.Add(
        {.make = std::move(make), .runtime = RuntimeOf(self, dialed), .header = Header(seed), .wrap = wrap});
  };
  add(kServerName, {}, [&privatizer, seed] { return std::make_unique<ServerActor<P>>(privatizer, seed); });
  std::vector<std::string> dialed = {kServerName};
  if constexpr (ShufflePrivatizer<P>) {
    add(kShufflerName, dialed,
        [&privatizer, seed] { return std::make_unique<ShufflerActor<P>>(privatizer, seed); });
    dialed.push_back(kShufflerName);
  }
  for (const auto& [first, last] : Ranges{{1, 70}, {71, 150}, {151, 240}}) {
    add(Roster::LinkOf(NodeId{first}), dialed, [&privatizer, seed, first = first, last = last] {
      return std::make_unique<AgentActor<P>>(privatizer, seed, first, last);
    });
  }
  world.on_done = [history, plays](const std::string& name, Actor& actor) {
    if (name != kServerName) return;
    if (history != nullptr) *history = static_cast<ServerActor<P>&>(actor).history();
    if (plays != nullptr) *plays = static_cast<ServerActor<P>&>(actor).plays;
  };
  return names;
}

template <class P>
Outcome RunStar(const P& privatizer, std::optional<InsecureSeed> seed, std::uint64_t schedule,
                const std::vector<Fault>& faults) {
  SimulatedWorld world(schedule);
  Outcome outcome;
  AddStar(world, privatizer, seed, nullptr, &outcome.history, &outcome.plays);
  outcome.wrong = world.Run(faults);
  return outcome;
}

bool SameHistory(const std::vector<PhaseRecord>& a, const std::vector<PhaseRecord>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const PhaseRecord& x, const PhaseRecord& y) {
    return x.epoch == y.epoch && x.pulls == y.pulls && x.clients == y.clients && x.averages == y.averages &&
           x.active == y.active;
  });
}

template <class P>
std::vector<PhaseRecord> Simulate(const P& privatizer) {
  auto server = TinyServer(privatizer);
  LinearPopulation population = TinyPopulation();
  Recorder recorder(*TinyProblem(), {});
  const absl::Status status = sim::Simulator<EliminationServer<P>, EliminationClient<P>>::Run(
      {kSeed, kReplicate, TopologyFor<P>(kPeople), kBudget}, server, privatizer, population, recorder);
  EXPECT_TRUE(status.ok()) << status;
  return server.policy().history();
}

rc::Gen<std::vector<Fault>> SomeFaults() {
  return rc::gen::container<std::vector<Fault>>(rc::gen::build<Fault>(
      rc::gen::set(&Fault::after, rc::gen::inRange<std::uint32_t>(0, 60)),
      rc::gen::set(&Fault::kind, rc::gen::map(rc::gen::inRange(0, static_cast<int>(Fault::Kind::kCount)),
                                              [](int kind) { return static_cast<Fault::Kind>(kind); })),
      rc::gen::set(&Fault::whom), rc::gen::set(&Fault::which)));
}

template <class P>
void ExpectDecisionsDespiteFaults(const P& privatizer) {
  const std::vector<PhaseRecord> expected = Simulate(privatizer);
  ASSERT_GE(expected.size(), 3u);
  EXPECT_TRUE(rc::check([&] {
    const std::vector<Fault> faults = *SomeFaults();
    const Outcome outcome = RunStar(privatizer, kInsecureSeed, *rc::gen::arbitrary<std::uint64_t>(), faults);
    RC_ASSERT(outcome.wrong == "");
    if (outcome.history.empty()) return;  // the server ended in its very last commit
    RC_ASSERT(SameHistory(outcome.history, expected));
    Count rounds = 0;
    for (const Pull& pull : outcome.plays) rounds += pull.count;
    RC_ASSERT(rounds == kHorizon);
  }));
}

TEST(World, GoesOnWithTheSameDecisionsWithoutPrivacy) { ExpectDecisionsDespiteFaults(SmallNoPrivacy()); }
TEST(World, GoesOnWithTheSameDecisionsUnderCentralTrust) {
  ExpectDecisionsDespiteFaults(CentralGaussianMean::Create(SmallPrivacy()).value());
}
TEST(World, GoesOnWithTheSameDecisionsUnderLocalTrust) {
  ExpectDecisionsDespiteFaults(LocalGaussianMean::Create(SmallPrivacy()).value());
}
TEST(World, GoesOnWithTheSameDecisionsThroughAShuffler) {
  ExpectDecisionsDespiteFaults(SmallShuffleSum(Transport::kCounts));
}

// --- with secret noise

// Checks all ledgers of a world that has ended. Returns how many releases they have.
std::uint64_t ReleasesIn(SimulatedWorld& world, const std::vector<std::string>& names) {
  std::uint64_t releases = 0;
  for (const std::string& name : names) {
    store::MemoryStore store(world.disk(name));
    LedgerVerifier verifier(name);
    std::set<std::string> seen;
    const absl::Status status = store.ForEachLine(0, [&](const store::AddLine& line) {
      return verifier.Take(line.line, [&](const Dated<LedgerEntry>& entry, std::string_view) {
        const std::string key = store::DrawKey(entry.record.run, entry.record.key);
        if (!seen.insert(key).second) return absl::DataLossError(key + " was charged twice");
        return absl::OkStatus();
      });
    });
    RC_ASSERT(status == absl::OkStatus());
    releases += seen.size();
  }
  return releases;
}

// A message that has left never changes, although the noise in it is secret: it is drawn once.
template <class P>
void ExpectOneDrawDespiteFaults(const P& privatizer, bool charges_clients) {
  EXPECT_TRUE(rc::check([&] {
    const std::vector<Fault> faults = *SomeFaults();
    SimulatedWorld world(*rc::gen::arbitrary<std::uint64_t>());
    std::vector<PhaseRecord> history;
    const std::vector<std::string> names =
        AddStar<P>(world, privatizer, std::nullopt, nullptr, &history, nullptr);
    RC_ASSERT(world.Run(faults) == "");
    const std::uint64_t releases = ReleasesIn(world, names);
    if (history.empty()) return;
    Count expected = 0;
    for (const PhaseRecord& phase : history) expected += charges_clients ? phase.clients : 1;
    RC_ASSERT(static_cast<Count>(releases) == expected);
  }));
}

TEST(World, DrawsOnceUnderCentralTrust) {
  ExpectOneDrawDespiteFaults(CentralGaussianMean::Create(SmallPrivacy()).value(), false);
}
TEST(World, DrawsOnceUnderLocalTrust) {
  ExpectOneDrawDespiteFaults(LocalGaussianMean::Create(SmallPrivacy()).value(), true);
}
TEST(World, DrawsOnceThroughAShuffler) {
  ExpectOneDrawDespiteFaults(SmallShuffleSum(Transport::kCounts), true);
}

// --- planted faults

// Says that a transaction is durable before it is: a crash loses the last one.
class HastyStore final : public store::Store {
 public:
  explicit HastyStore(store::Store& disk) : disk_(disk) {}
  const std::string& name() const override { return disk_.name(); }
  absl::Status Commit(std::span<const store::Change> changes) override {
    const store::Transaction next(changes.begin(), changes.end());
    if (const store::Transaction held = std::exchange(held_, next); !held.empty()) return disk_.Commit(held);
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<store::Run>> Runs() override { return disk_.Runs(); }
  absl::StatusOr<std::optional<std::string>> Meta(const std::string& name) override {
    return disk_.Meta(name);
  }
  absl::StatusOr<std::optional<store::PutSnapshot>> Snapshot() override { return disk_.Snapshot(); }
  absl::Status ForEachInput(absl::FunctionRef<absl::Status(const store::AddInput&)> visit) override {
    return disk_.ForEachInput(visit);
  }
  absl::Status ForEachOutput(absl::FunctionRef<absl::Status(const store::PutOutput&)> visit) override {
    return disk_.ForEachOutput(visit);
  }
  absl::Status ForEachAcknowledgement(
      absl::FunctionRef<absl::Status(const store::Acknowledge&)> visit) override {
    return disk_.ForEachAcknowledgement(visit);
  }
  absl::Status ForEachDraw(absl::FunctionRef<absl::Status(const store::AddDraw&)> visit) override {
    return disk_.ForEachDraw(visit);
  }
  absl::StatusOr<std::uint64_t> Lines() override { return disk_.Lines(); }
  absl::Status ForEachLine(std::uint64_t from,
                           absl::FunctionRef<absl::Status(const store::AddLine&)> visit) override {
    return disk_.ForEachLine(from, visit);
  }

 private:
  store::Store& disk_;
  store::Transaction held_;
};

TEST(World, CatchesMessagesThatLeaveBeforeTheirLedgerLine) {
  const auto privatizer = LocalGaussianMean::Create(SmallPrivacy()).value();
  int caught = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SimulatedWorld world(seed);
    AddStar<LocalGaussianMean>(
        world, privatizer, std::nullopt,
        [](store::Store& disk) { return std::make_unique<HastyStore>(disk); }, nullptr, nullptr);
    const std::string wrong =
        world.Run({{40, Fault::Kind::kCrash, 0, 0}, {20, Fault::Kind::kCrash, 1, 0}}, 20'000);
    caught += wrong.empty() ? 0 : 1;
  }
  EXPECT_GE(caught, 15);
}

// --- neighbours in lock step

constexpr Count kFloodRounds = 12;

class PeerActor final : public Actor {
 public:
  PeerActor(const Graph& graph, NodeId self) : player(self, 3) {
    params_ = {.self = self, .listen = "127.0.0.1:0", .rounds = kFloodRounds, .spec_digest = "digest"};
    for (const NodeId other : graph.neighbours(self)) params_.neighbours[other] = "";
    machine_ = MakePeer(params_, player, world_).value();
  }
  Machine& machine() override { return *machine_; }
  NodeId self() const { return params_.self; }
  Flooder player;

 private:
  PeerParams params_;
  ToyWorld world_;
  std::unique_ptr<LockStep> machine_;
};

TEST(World, PeersSeeWhatTheyWouldSeeInASimulator) {
  for (const Graph& graph : {*RingGraph(5), *LineGraph(4), *StarGraph(4)}) {
    const auto expected = FloodInALoop(graph, 3, kFloodRounds);
    EXPECT_TRUE(rc::check([&] {
      const std::vector<Fault> faults = *SomeFaults();
      SimulatedWorld world(*rc::gen::arbitrary<std::uint64_t>());
      for (NodeId node{1}; graph.Contains(node); ++node.value) {
        Runtime::Params runtime{
            .self = NodeLink(node), .digest = "digest", .runs_differ = true, .linger = absl::Hours(10)};
        for (const NodeId other : graph.neighbours(node)) {
          runtime.partners[NodeLink(other)] = {.dialed = Dials(node, other)};
        }
        world.Add({.make = [&graph, node] { return std::make_unique<PeerActor>(graph, node); },
                   .runtime = runtime,
                   .header = Header(std::nullopt),
                   .sends_early = true});
      }
      std::map<NodeId, std::vector<Seen>> seen;
      world.on_done = [&](const std::string&, Actor& actor) {
        auto& peer = static_cast<PeerActor&>(actor);
        seen[peer.self()] = peer.player.seen();
      };
      RC_ASSERT(world.Run(faults) == "");
      for (const auto& [node, what] : seen) RC_ASSERT(what == expected.at(node));
    }));
  }
}

}  // namespace
}  // namespace bandana::service
