#include <unistd.h>

#include <cstdio>
#include <map>
#include <set>

#include "bandana/bandit/round_recorder.h"
#include "bandana/bandit/user_rounds.h"
#include "bandana/core/byte_string.h"
#include "bandana/core/status.h"
#include "bandana/federation/failure.h"
#include "bandana/federation/silo_shuffler.h"
#include "bandana/federation/traffic.h"
#include "bandana/lab/algorithms.h"
#include "bandana/lab/arm_parts.h"
#include "bandana/lab/experiment.h"
#include "bandana/lab/federated_parts.h"
#include "bandana/lab/saved_policy.h"
#include "bandana/lab/spec.h"
#include "bandana/lab/user_parts.h"
#include "bandana/sim/network_simulator.h"
#include "bandana/sim/round_simulator.h"
#include "bandana/sim/simulator.h"
#include "bandana/sim/user_simulator.h"
#include "gmock/gmock.h"
#include "tests/reborn.h"

// Save, load, continue: for every algorithm, a run in which all roles are saved, destroyed and made anew at
// (nearly) every call is bit for bit the run in which they live on.
namespace bandana::lab {
namespace {

using test::RebornNetworkPlayer;
using test::RebornNode;
using test::RebornPlayer;
using test::RebornRoundPlayer;
using ::testing::HasSubstr;

struct Case {
  std::string name;  // of the algorithm
  Overrides set = {};
  std::vector<std::string> failures = {};
};

std::ostream& operator<<(std::ostream& out, const Case& each) {
  out << each.name;
  for (const std::string& set : each.set) out << ' ' << set;
  return out;
}

std::vector<Case> Cases() {
  return {
      {"dp-dpe", {"privacy.model=none"}},
      {"dp-dpe", {"privacy.model=central"}},
      {"dp-dpe", {"privacy.model=central", "algorithm.report=estimate"}},
      {"dp-dpe", {"privacy.model=local", "algorithm.warm_start=true", "algorithm.width=paper"}},
      {"dp-dpe", {"privacy.model=shuffle", "horizon=2000"}},
      {"pe", {"privacy.model=central"}},
      {"pe", {"privacy.model=none", "environment.kind=glm", "environment.reward=bernoulli"}},
      {"private-elimination", {"privacy.model=central"}},
      {"private-elimination", {"privacy.model=shuffle", "privacy.shuffle=sum", "horizon=150"}},
      {"private-elimination", {"privacy.model=shuffle", "privacy.shuffle=amplified", "horizon=150"}},
      {"private-elimination", {"privacy.model=local", "privacy.noise=laplace"}},
      {"lin-ucb", {"privacy.model=none"}},
      {"fed-ucb"},
      {"fed-ucb", {"privacy.model=shuffle", "federation.paces=[1, 2]"}},
      {"fed-ucb", {"algorithm.local=raw", "algorithm.prefix_sum=toeplitz"}},
      {"fed-ucb", {"privacy.model=none", "algorithm.sync=determinant", "environment.precision=float"}},
      {"fed-ucb", {"algorithm.sync=released", "algorithm.prefix_sum=honaker", "privacy.budgets=[0.5, 3]"}},
      {"fed-ucb-p2p", {"privacy.model=peer", "federation.topology=ring", "algorithm.gamma=2"}},
      {"fed-ucb-p2p", {"privacy.model=none", "federation.topology=ring", "algorithm.sync=determinant"}},
      {"private-lin-ucb"},
      {"private-lin-ucb", {"privacy.model=none"}},
      {"cdp-mab", {"algorithm.participation=0.4", "federation.dropout=0.2", "horizon=20000"}},
      {"cdp-mab", {"privacy.model=none", "algorithm.local=raw"}},
      {"ddp-mab", {"privacy.model=peer", "federation.topology=ring", "algorithm.protocol=gis"}},
      {"ddp-mab",
       {"privacy.model=peer", "federation.topology=line", "algorithm.protocol=flooding",
        "federation.dropout=0.2"}},
      {"ddp-mab",
       {"privacy.model=peer", "federation.topology=ring", "algorithm.protocol=gossip",
        "algorithm.local=raw"}},
      {"hdp-mab",
       {"federation.agents=8", "federation.components=[5, 3]", "federation.component_topology=line"},
       {"agent 3 @ 1", "miss 7 @ 2", "miss 1 @ 2"}},
      {"hdp-mab", {"federation.components=[3, 2]", "algorithm.aggregation=unweighted"}},
      {"single-mab"},
      {"ucb1", {"privacy.model=none"}},
      {"successive-elimination", {"privacy.model=none"}},
      {"ldp-sgd"},
      {"ldp-sgd", {"environment.parameters=multi", "environment.link=probit", "algorithm.average=2"}},
      {"ldp-ols"},
      {"ldp-ols", {"environment.parameters=multi", "algorithm.lazy=0.2", "environment.link=poisson"}},
      {"ldp-ucb", {"algorithm.bonus=0.1"}},
      {"ldp-gloc", {"environment.parameters=multi"}},
      {"thompson-sampling", {"privacy.model=none", "environment.link=identity"}},
  };
}

std::string BaseOf(const std::string& name) {
  const auto algorithms = Algorithms();
  const auto it = std::find_if(algorithms.begin(), algorithms.end(),
                               [&](const Algorithm& algorithm) { return algorithm.name == name; });
  if (it->arms) {
    return R"(horizon = 4_000
seed = 5
environment = { kind = "mab", actions = 6 }
federation.agents = 5
privacy = { model = "silo", epsilon = 20.0 }
)";
  }
  if (it->users) {
    return R"(horizon = 400
seed = 5
environment = { kind = "glm", dimension = 3, actions = 4 }
privacy = { model = "local", epsilon = 2.0, delta = 0.01 }
)";
  }
  if (it->federated) {
    return R"(horizon = 150
seed = 5
environment = { kind = "contextual-linear", contexts = "gap", dimension = 4, actions = 8, reward = "bernoulli" }
federation.agents = 4
privacy = { model = "silo", epsilon = 1.0, delta = 1e-5 }
)";
  }
  return it->client_a_round ? R"(horizon = 600
seed = 11
environment = { dimension = 3, actions = 20, theta_norm = 0.9 }
privacy = { epsilon = 50.0, delta = 1e-5 }
)"
                            : R"(horizon = 20_000
seed = 11
environment = { dimension = 3, actions = 20, client_sd = 0.1, population = 2_000, theta_norm = 0.9 }
algorithm.alpha = 0.45
privacy = { epsilon = 50.0, delta = 1e-5 }
)";
}

absl::StatusOr<Settings> SettingsOf(const Case& each, const Overrides& more = {}) {
  Overrides set = {"algorithm.name=" + each.name};
  set.insert(set.end(), each.set.begin(), each.set.end());
  set.insert(set.end(), more.begin(), more.end());
  BANDANA_ASSIGN_OR_RETURN(const Spec spec, ParseSpec(BaseOf(each.name), "x.toml", set));
  Settings settings = spec.points.front().settings;
  BANDANA_RETURN_IF_ERROR(CheckPoint(settings));
  return settings;
}

// What came of a run, to the last bit.
struct Ran {
  std::map<std::string, std::string> roles;  // what each would save at the end
  std::vector<std::string> checkpoints;
  std::vector<std::vector<ArmId>> decisions;
  Count rounds = 0;  // of communication
  bool operator==(const Ran&) const = default;
};

std::vector<std::string> Digits(const std::vector<Checkpoint>& checkpoints) {
  std::vector<std::string> digits;
  for (const Checkpoint& each : checkpoints) {
    digits.push_back(ByteString()
                         .Add(each.t)
                         .Add(each.regret)
                         .Add(each.clients)
                         .Add(each.reals)
                         .Add(each.bits)
                         .Add(each.rounds)
                         .Add(each.best_action_rate)
                         .Take());
  }
  return digits;
}

// Clients and shufflers are made by the simulator.
template <Privatizer P, int kEvery>
class RebornClient final : public RebornPlayer {
 public:
  explicit RebornClient(const P& privatizer)
      : RebornPlayer([&privatizer] { return std::make_unique<EliminationClient<P>>(privatizer); }, kEvery) {}
};

template <class P, int kEvery>
class RebornShuffler final : public RebornNode {
 public:
  explicit RebornShuffler(const P& privatizer)
      : RebornNode([&privatizer] { return std::make_unique<Shuffler<P>>(privatizer); }, kEvery) {}
};

template <int kEvery>
struct RebornShufflers {
  template <class P>
  using Of = RebornShuffler<P, kEvery>;
};

struct Mode {
  bool reborn = false;
  const Ran* foreign = nullptr;  // nothing is run: the roles must refuse what these have saved
};

void ExpectRefusal(Savable& role, const Ran& foreign, const std::string& name) {
  const absl::Status status = role.Restore(foreign.roles.at(name));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << name << ": " << status;
}

absl::StatusOr<Ran> RunClients(const Settings& settings, const Mode& mode) {
  BANDANA_ASSIGN_OR_RETURN(const auto problem, MakeProblem(settings, 0));
  BANDANA_ASSIGN_OR_RETURN(const auto population, MakePopulation(settings, 0, problem));
  BANDANA_ASSIGN_OR_RETURN(const auto actions, LearnersActions(settings, problem));
  return WithPrivatizer(settings, [&]<class P>(const P& privatizer) -> absl::StatusOr<Ran> {
    const auto make = [&]() -> std::unique_ptr<Node> {
      if constexpr (std::same_as<P, NoPrivacyMean>) {
        if (settings.Text("algorithm.name") == "lin-ucb") {
          auto server = LinUcbServer<P>::Create(MakeLinUcbParams(settings), *actions, privatizer);
          return std::make_unique<LinUcbServer<P>>(*std::move(server));
        }
      }
      auto server = EliminationServer<P>::Create(MakeRules(settings, *actions), actions, privatizer);
      return std::make_unique<EliminationServer<P>>(*std::move(server));
    };
    Recorder recorder(*problem, Checkpoints(settings));
    const sim::SimParams params{.seed = static_cast<std::uint64_t>(settings.Integer("seed")),
                                .topology = TopologyFor<P>(PopulationOf(settings)),
                                .budget_per_client = privatizer.guarantee(),
                                .crowds = false};
    RebornNode server(make, mode.reborn ? 7 : 0);
    if (mode.foreign != nullptr) {
      ExpectRefusal(server, *mode.foreign, "server");
      return Ran{};
    }
    if (mode.reborn) {
      using Simulator = sim::Simulator<RebornNode, RebornClient<P, 1>, RebornShufflers<29>>;
      BANDANA_RETURN_IF_ERROR(Simulator::Run(params, server, privatizer, *population, recorder));
    } else {
      using Simulator = sim::Simulator<RebornNode, RebornClient<P, 0>, RebornShufflers<0>>;
      BANDANA_RETURN_IF_ERROR(Simulator::Run(params, server, privatizer, *population, recorder));
    }
    return Ran{{{"server", server.Save()}}, Digits(recorder.checkpoints()), {}, recorder.now().rounds};
  });
}

template <class Scalar>
absl::Status RunFederated(const Settings& settings, const Mode& mode, RoundRecorder& recorder, Ran& ran) {
  BANDANA_ASSIGN_OR_RETURN(const RoundContexts contexts, MakeRoundContexts(settings, 0));
  BANDANA_ASSIGN_OR_RETURN(const auto parts, FederatedParts::Create(settings));
  const sim::RoundSimParams params{.seed = static_cast<std::uint64_t>(settings.Integer("seed")),
                                   .horizon = settings.Integer("horizon"),
                                   .budget_per_silo = parts->budget()};
  using Agent = RebornRoundPlayer<Scalar>;
  using Simulator = sim::RoundSimulator<Agent, Scalar>;
  const int every = mode.reborn ? 1 : 0;
  std::vector<std::unique_ptr<Agent>> agents;
  const auto add = [&](NodeId self) {
    agents.push_back(std::make_unique<Agent>(
        [&, self]() -> std::unique_ptr<RoundPlayer<Scalar>> {
          if (IsPeers(settings)) return parts->MakePeer<Scalar>(self);
          if (IsShuffled(settings)) return parts->MakeShuffledAgent<Scalar>(self);
          return parts->MakeAgent<Scalar>(self);
        },
        every));
  };
  const auto keep = [&](NodeId first) {
    for (std::uint32_t i = 0; i < agents.size(); ++i) {
      const std::string name = "agent " + std::to_string(first.value + i);
      if (mode.foreign != nullptr) ExpectRefusal(*agents[i], *mode.foreign, name);
      ran.roles[name] = agents[i]->Save();
    }
  };
  if (IsPeers(settings)) {
    for (std::uint32_t i = 1; i <= parts->graph().nodes(); ++i) add(NodeId{i});
    if (mode.foreign == nullptr) {
      BANDANA_RETURN_IF_ERROR(Simulator::RunPeers(params, parts->graph(), agents, {}, contexts, recorder));
    }
    keep(NodeId{1});
    return absl::OkStatus();
  }
  for (const std::vector<NodeId>& group : parts->cliques()) {
    agents.clear();
    for (const NodeId self : group) add(self);
    const NodeId first = group.front();
    RebornNode controller(
        [&]() -> std::unique_ptr<Node> {
          if (IsShuffled(settings)) return parts->MakeShuffledController();
          return parts->MakeController(first);
        },
        every);
    std::optional<RebornNode> shuffler;
    if (IsShuffled(settings)) {
      shuffler.emplace(
          [&] {
            return std::make_unique<SiloShuffler<ShuffledRegressionSum>>(parts->shuffled(), NodeId{1},
                                                                         static_cast<Count>(group.size()));
          },
          every);
    }
    const std::string name = "controller of " + std::to_string(first.value);
    if (mode.foreign != nullptr) {
      ExpectRefusal(controller, *mode.foreign, name);
      keep(first);
      continue;
    }
    BANDANA_RETURN_IF_ERROR(Simulator::RunStar(params, controller, shuffler ? &*shuffler : nullptr, agents,
                                               first, HasTrigger(settings), contexts, recorder));
    ran.roles[name] = controller.Save();
    if (shuffler) ran.roles["shuffler"] = shuffler->Save();
    keep(first);
  }
  return absl::OkStatus();
}

absl::StatusOr<Ran> RunFederated(const Settings& settings, const Mode& mode) {
  Ran ran;
  RoundRecorder recorder(settings.Integer("federation.agents"), Checkpoints(settings), true);
  BANDANA_RETURN_IF_ERROR(settings.Text("environment.precision") == "float"
                              ? RunFederated<float>(settings, mode, recorder, ran)
                              : RunFederated<double>(settings, mode, recorder, ran));
  ran.checkpoints = Digits(recorder.Checkpoints());
  ran.decisions = recorder.decisions();
  ran.rounds = recorder.Checkpoints().back().rounds;
  return ran;
}

absl::StatusOr<Ran> RunArms(const Settings& settings, const std::vector<std::string>& failures,
                            const Mode& mode) {
  BANDANA_ASSIGN_OR_RETURN(const auto parts, ArmParts::Create(settings));
  BANDANA_ASSIGN_OR_RETURN(ArmWorld world, parts->MakeWorld());
  const Graph& graph = parts->graph();
  const int every = mode.reborn ? 1 : 0;
  std::unique_ptr<RebornNetworkPlayer> server;
  if (parts->has_server()) {
    server = std::make_unique<RebornNetworkPlayer>([&] { return parts->MakeServer(); }, every);
  }
  std::vector<std::unique_ptr<RebornNetworkPlayer>> agents;
  std::vector<NetworkPlayer*> players;
  for (std::uint32_t i = 1; i <= graph.nodes(); ++i) {
    agents.push_back(
        std::make_unique<RebornNetworkPlayer>([&, i] { return parts->MakeAgent(NodeId{i}); }, every));
    players.push_back(agents.back().get());
  }
  if (mode.foreign != nullptr) {
    if (server != nullptr) ExpectRefusal(*server, *mode.foreign, "server");
    for (std::uint32_t i = 1; i <= agents.size(); ++i) {
      ExpectRefusal(*agents[i - 1], *mode.foreign, "agent " + std::to_string(i));
    }
    return Ran{};
  }
  RoundRecorder recorder(graph.nodes(), Checkpoints(settings), true);
  Traffic traffic(graph);
  sim::NetworkSimParams params{
      .seed = static_cast<std::uint64_t>(settings.Integer("seed")),
      .budget_per_agent = parts->privatizer().guarantee(),
      .dropout = settings.Has("federation.dropout") ? settings.Number("federation.dropout") : 0};
  for (const std::string& failure : failures) params.failures.push_back(ParseFailure(failure).value());
  BANDANA_RETURN_IF_ERROR(
      sim::RunNetwork(params, graph, server.get(), players, world, *parts->problem(), recorder, traffic)
          .status());
  Ran ran{{},
          Digits(recorder.Checkpoints()),
          recorder.decisions(),
          traffic.Until(settings.Integer("horizon")).rounds};
  if (server != nullptr) ran.roles["server"] = server->Save();
  for (std::uint32_t i = 1; i <= agents.size(); ++i) {
    ran.roles["agent " + std::to_string(i)] = agents[i - 1]->Save();
  }
  return ran;
}

// A learner that goes on from what it has saved after every message.
template <class Learner>
class RebornLearner {
 public:
  using Device = typename Learner::Device;

  RebornLearner(const Learner& first, bool reborn) : first_(first), learner_(first), reborn_(reborn) {}

  Device MakeDevice() const { return learner_.MakeDevice(); }
  template <class World>
  ArmId Choose(World& world, CoinGen& coin, Device& device) const {
    return learner_.Choose(world, coin, device);
  }
  Count Report(ArmId arm, const Raw<LocalRecord>& record, NoiseGen& noise, Device& device,
               RangeCounts* counts) const {
    return learner_.Report(arm, record, noise, device, counts);
  }
  void Learn(const LocalMessage& message, Count users) {
    learner_.Learn(message, users);
    if (!reborn_) return;
    const std::string saved = learner_.Save();
    learner_ = first_;
    const absl::Status restored = learner_.Restore(saved);
    EXPECT_TRUE(restored.ok()) << restored;
    EXPECT_TRUE(learner_.Save() == saved);
  }
  std::string Save() const { return learner_.Save(); }

 private:
  Learner first_;
  Learner learner_;
  bool reborn_;
};

// Learner, device and simulator are gone after so many rounds; the world goes on.
TEST(SavingTest, UsersGoOnWithAnotherSimulator) {
  for (const Case& each : Cases()) {
    const Settings settings =
        SettingsOf(each, each.name == "ldp-ols" ? Overrides{"algorithm.lazy=0"} : Overrides{}).value();
    if (!AlgorithmOf(settings).users) continue;
    const auto problem = MakeGlmProblem(settings, 0).value();
    const UserSpace space = MakeUserSpace(settings).value();
    const Count horizon = settings.Integer("horizon");
    const auto decisions = [&](Count stop_after) {
      DrawnRounds world(problem, 5, 0);
      RoundRecorder recorder(1, {horizon}, true);
      std::string saved;
      for (Count begin = 0; begin < horizon; begin += stop_after) {
        const absl::Status ran = WithUserLearner(settings, space, [&]<class Learner>(Learner& learner) {
          if (begin > 0) EXPECT_TRUE(learner.Restore(saved).ok());
          sim::UserSimulator<Learner, DrawnRounds> simulator({.seed = 5, .users_before = begin}, learner,
                                                             world);
          const absl::Status status = simulator.Run(begin + stop_after, recorder);
          saved = learner.Save();
          return status;
        });
        EXPECT_TRUE(ran.ok()) << ran;
      }
      return recorder.decisions();
    };
    EXPECT_TRUE(decisions(horizon) == decisions(horizon / 8)) << each;
  }
}

absl::StatusOr<Ran> RunUsers(const Settings& settings, const Mode& mode) {
  BANDANA_ASSIGN_OR_RETURN(const auto problem, MakeGlmProblem(settings, 0));
  BANDANA_ASSIGN_OR_RETURN(const UserSpace space, MakeUserSpace(settings));
  return WithUserLearner(settings, space, [&]<class Learner>(Learner& learner) -> absl::StatusOr<Ran> {
    if (mode.foreign != nullptr) {
      const absl::Status status = learner.Restore(mode.foreign->roles.at("server"));
      EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
      return Ran{};
    }
    const auto seed = static_cast<std::uint64_t>(settings.Integer("seed"));
    RebornLearner<Learner> reborn(learner, mode.reborn);
    DrawnRounds world(problem, seed, 0);
    RoundRecorder recorder(1, Checkpoints(settings), true);
    sim::UserSimulator<RebornLearner<Learner>, DrawnRounds> simulator({.seed = seed}, reborn, world);
    BANDANA_RETURN_IF_ERROR(simulator.Run(settings.Integer("horizon"), recorder));
    return Ran{{{"server", reborn.Save()}},
               Digits(recorder.Checkpoints()),
               recorder.decisions(),
               simulator.rounds()};
  });
}

absl::StatusOr<Ran> RunCase(const Case& each, const Mode& mode, const Overrides& more = {}) {
  BANDANA_ASSIGN_OR_RETURN(const Settings settings, SettingsOf(each, more));
  const Algorithm& algorithm = AlgorithmOf(settings);
  if (algorithm.federated) return RunFederated(settings, mode);
  if (algorithm.arms) return RunArms(settings, each.failures, mode);
  if (algorithm.users) return RunUsers(settings, mode);
  return RunClients(settings, mode);
}

TEST(SavingTest, EveryAlgorithmIsHere) {
  std::set<std::string> here;
  for (const Case& each : Cases()) here.insert(each.name);
  const std::vector<std::string> names = AlgorithmNames();
  EXPECT_EQ(here, std::set<std::string>(names.begin(), names.end()))
      << "a policy that may not survive being saved: write its case";
}

class SavedRunTest : public ::testing::TestWithParam<Case> {};

TEST_P(SavedRunTest, GoesOnAsIfItHadNeverStopped) {
  const absl::StatusOr<Ran> lasting = RunCase(GetParam(), {});
  ASSERT_TRUE(lasting.ok()) << lasting.status();
  const std::set<std::string> alone = {"single-mab", "ucb1", "successive-elimination"};
  EXPECT_GE(lasting->rounds, alone.contains(GetParam().name) ? 0 : 2)
      << "there must be something to go on with";
  const absl::StatusOr<Ran> reborn = RunCase(GetParam(), {.reborn = true});
  ASSERT_TRUE(reborn.ok()) << reborn.status();
  EXPECT_TRUE(lasting->checkpoints == reborn->checkpoints);
  EXPECT_TRUE(lasting->decisions == reborn->decisions);
  ASSERT_EQ(lasting->roles.size(), reborn->roles.size());
  for (const auto& [name, saved] : lasting->roles) EXPECT_TRUE(saved == reborn->roles.at(name)) << name;
  const absl::StatusOr<Ran> longer = RunCase(GetParam(), {.foreign = &*lasting}, {"horizon=700"});
  EXPECT_TRUE(longer.ok()) << longer.status();
}

TEST_P(SavedRunTest, GoesToDiskAndBackToWhoseItIs) {
  const absl::StatusOr<Ran> ran = RunCase(GetParam(), {});
  ASSERT_TRUE(ran.ok()) << ran.status();
  const Settings settings = SettingsOf(GetParam()).value();
  const std::string path = ::testing::TempDir() + "bandana_saving_" + std::to_string(getpid());
  const auto& [name, saved] = *ran->roles.begin();
  ASSERT_TRUE(WritePolicy(path, IdentityOf(settings, 0, name), saved).ok());
  EXPECT_TRUE(ReadPolicy(path, IdentityOf(settings, 0, name)).value() == saved);
  const auto refusal = [&](const PolicyIdentity& other) {
    return std::string(ReadPolicy(path, other).status().message());
  };
  EXPECT_THAT(refusal(IdentityOf(settings, 1, name)), HasSubstr("replicate = \"0\", not \"1\""));
  EXPECT_THAT(refusal(IdentityOf(settings, 0, "nobody")), HasSubstr("role"));
  const Settings other = SettingsOf(GetParam(), {"seed=6"}).value();
  EXPECT_THAT(refusal(IdentityOf(other, 0, name)), HasSubstr("seed = \""));
  std::remove(path.c_str());
}

INSTANTIATE_TEST_SUITE_P(Algorithms, SavedRunTest, ::testing::ValuesIn(Cases()),
                         [](const ::testing::TestParamInfo<Case>& each) {
                           std::string name;
                           for (const char c : each.param.name) {
                             if (c != '-') name += c;
                           }
                           return name + std::to_string(each.index);
                         });

}  // namespace
}  // namespace bandana::lab
