#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bandana/bandit/recorder.h"
#include "bandana/service/agent_machine.h"
#include "bandana/service/names.h"
#include "bandana/service/roster.h"
#include "bandana/service/server_machine.h"
#include "bandana/service/shuffler_machine.h"
#include "tests/service/small_run.h"
#include "tests/service/world/star_watch.h"
#include "tests/service/world/world.h"
#include "tests/sim/simulator.h"

/// A server with three agents, and a shuffler if reports pass one, in a simulated world.
namespace bandana::service {

inline constexpr Count kPeople = 240;
inline constexpr Count kHorizon = 300;

inline const std::shared_ptr<const LinearProblem>& TinyProblem() {
  static const auto& problem =
      *new std::shared_ptr<const LinearProblem>(std::make_shared<const LinearProblem>(
          LinearProblem::Draw({.dimension = 2, .actions = 8}, kSeed, kReplicate).value()));
  return problem;
}

/// Another replicate has the same people with other rewards.
inline LinearPopulation TinyPopulation(std::uint32_t replicate = kReplicate) {
  return LinearPopulation::Create({.problem = TinyProblem(),
                                   .reward = {},
                                   .client_sd = 0.1,
                                   .size = kPeople,
                                   .seed = kSeed,
                                   .replicate = replicate})
      .value();
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

inline LedgerHeader HeaderOf(std::optional<InsecureSeed> seed) {
  return {.deployment = "world",
          .configuration = Sha256("digest"),
          .void_reason = seed ? "a test with a known seed" : "",
          .limits = {.per_unit = {kBudget.epsilon, kBudget.delta}}};
}

inline Runtime::Params RuntimeOf(const std::string& self, const std::vector<std::string>& dialed) {
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
  AgentActor(const P& privatizer, std::optional<InsecureSeed> seed, std::uint32_t first, std::uint32_t last,
             LinearPopulation population)
      : params_(SmallAgentParams("", first, last)), population_(std::move(population)) {
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

struct StarParams {
  std::optional<InsecureSeed> seed = std::nullopt;  ///< none: the noise is secret
  SimulatedWorld::Wrap wrap = nullptr;
  /// Stands between a process and its roles: where a test plants a fault.
  std::function<std::unique_ptr<Actor>(std::unique_ptr<Actor>)> change = nullptr;
  bool rewards_change = false;  ///< the fault that agents lose their clients' rewards, and collect others
};

/// A deployment whose clients report through P.
template <class P>
class Star {
 public:
  /// The privatizer must outlive the star.
  Star(const P& privatizer, std::uint64_t schedule, StarParams params = {})
      : world(schedule), privatizer_(privatizer), params_(std::move(params)), watch_(WhoPays()) {
    Add(kServerName, {}, [this] { return std::make_unique<ServerActor<P>>(privatizer_, params_.seed); });
    std::vector<std::string> dialed = {kServerName};
    if constexpr (ShufflePrivatizer<P>) {
      Add(kShufflerName, dialed,
          [this] { return std::make_unique<ShufflerActor<P>>(privatizer_, params_.seed); });
      dialed.push_back(kShufflerName);
    }
    for (const auto& [first, last] : {std::pair{1U, 70U}, {71U, 150U}, {151U, 240U}}) {
      Add(Roster::LinkOf(NodeId{first}), dialed, [this, first = first, last = last] {
        const std::uint32_t replicate = params_.rewards_change ? ++replicate_ : kReplicate;
        return std::make_unique<AgentActor<P>>(privatizer_, params_.seed, first, last,
                                               TinyPopulation(replicate));
      });
    }
    world.spelled = StarWatch::Spelled;
    world.on_message = [this](const std::string& from, const std::string& body, bool is_new) {
      if (const auto& secret = world.secret(kServerName)) watch_.SetSecret(*secret);
      return watch_.OnMessage(from, body, is_new,
                              [this](const std::string& process, NodeId node, Epoch epoch) {
                                return world.invariants().IsCharged(process, node, epoch);
                              });
    };
    world.on_done = [this](const std::string& name, Actor& actor) {
      auto* const server = dynamic_cast<ServerActor<P>*>(&actor);
      if (name != kServerName || server == nullptr) return;
      history = server->history();
      plays = server->plays;
    };
  }
  Star(const Star&) = delete;
  Star& operator=(const Star&) = delete;

  std::uint64_t releases() const {
    std::uint64_t releases = 0;
    for (const std::string& name : names_) releases += world.invariants().ReleasesOf(name);
    return releases;
  }
  /// Returns how many releases the server's decisions follow from.
  std::uint64_t expected_releases() const {
    Count expected = 0;
    for (const PhaseRecord& phase : history) {
      expected += P::kChargesClient ? phase.clients : P::kChargesAnalyzer ? 1 : 0;
    }
    return static_cast<std::uint64_t>(expected);
  }

  SimulatedWorld world;
  /// The phases that the server has learned from. It is empty if the server ended in its very last commit.
  std::vector<PhaseRecord> history;
  std::vector<Pull> plays;

 private:
  static Pays WhoPays() {
    return P::kChargesClient ? Pays::kEachClient : P::kChargesAnalyzer ? Pays::kServer : Pays::kNobody;
  }

  void Add(const std::string& self, const std::vector<std::string>& dialed,
           std::function<std::unique_ptr<Actor>()> make) {
    names_.push_back(self);
    if (params_.change) make = [this, make = std::move(make)] { return params_.change(make()); };
    world.Add({.make = std::move(make),
               .runtime = RuntimeOf(self, dialed),
               .header = HeaderOf(params_.seed),
               .wrap = params_.wrap});
  }

  const P& privatizer_;
  StarParams params_;
  StarWatch watch_;
  std::vector<std::string> names_;
  std::uint32_t replicate_ = kReplicate;
};

inline bool SameHistory(const std::vector<PhaseRecord>& a, const std::vector<PhaseRecord>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const PhaseRecord& x, const PhaseRecord& y) {
    return x.epoch == y.epoch && x.pulls == y.pulls && x.clients == y.clients && x.averages == y.averages &&
           x.active == y.active;
  });
}

/// Returns what the server learns in a simulator.
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

}  // namespace bandana::service
