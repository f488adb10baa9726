#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bandana/federation/federation.h"
#include "bandana/lab/experiment.h"
#include "bandana/lab/spec.h"
#include "bandana/service/agent_machine.h"
#include "bandana/service/lock_step.h"
#include "bandana/service/mixer.h"
#include "bandana/service/names.h"
#include "bandana/service/one_round.h"
#include "bandana/service/roster.h"
#include "bandana/service/server_machine.h"
#include "bandana/service/shuffler_machine.h"
#include "tests/fuzz/fuzz.h"

/// Processes of small deployments, made from specs as the command line makes them: each kind of machine with
/// each kind of role.
namespace bandana::fuzz {

enum class Part { kServer, kShuffler, kPlanAgent, kRoundAgent, kPeer, kNode };

struct ProcessKind {
  const char* name;
  Part part;
  std::string self;
  std::vector<std::string> partners;  ///< processes that an honest deployment has
  const char* spec;
};

inline constexpr char kPhases[] = R"(horizon = 200
seed = 11
environment = { dimension = 2, actions = 4, client_sd = 0.1, population = 24, theta_norm = 0.9 }
algorithm = { name = "dp-dpe", clients = "fixed", fixed_clients = 3 }
privacy = { epsilon = 50.0, delta = 1e-5, )";
inline constexpr char kBatches[] = R"(horizon = 40
seed = 5
environment = { kind = "contextual-linear", contexts = "gap", dimension = 2, actions = 3, reward = "bernoulli" }
federation.agents = 3
)";
inline constexpr char kArms[] = R"(horizon = 300
seed = 5
environment = { kind = "mab", actions = 3 }
)";

/// Returns all kinds of processes.
inline const std::vector<ProcessKind>& ProcessKinds() {
  static const auto& kinds = *new std::vector<ProcessKind>([] {
    static const std::string& central = *new std::string(std::string(kPhases) + "model = \"central\" }");
    static const std::string& mixed = *new std::string(std::string(kPhases) + "model = \"shuffle\" }");
    static const std::string& sealed =
        *new std::string(std::string(kPhases) + "model = \"shuffle\", transport = \"bits\" }");
    static const std::string& batches =
        *new std::string(std::string(kBatches) +
                         "algorithm.name = \"fed-ucb\"\nprivacy = { model = \"silo\", "
                         "epsilon = 5.0, delta = 1e-5 }\n");
    static const std::string& peers =
        *new std::string(std::string(kBatches) +
                         "algorithm.name = \"fed-ucb-p2p\"\nalgorithm.gamma = 2\nfederation.topology = "
                         "\"ring\"\nprivacy = { model = \"peer\", epsilon = 5.0, delta = 1e-5 }\n");
    static const std::string& components = *new std::string(
        std::string(kArms) +
        "algorithm.name = \"hdp-mab\"\nfederation = { agents = 3, components = [2, 1] }\nprivacy = { model = "
        "\"silo\", epsilon = 20.0 }\n");
    static const std::string& ring =
        *new std::string(std::string(kArms) +
                         "algorithm.name = \"ddp-mab\"\nfederation = { agents = 3, topology = \"ring\" }\n"
                         "privacy = { model = \"peer\", epsilon = 20.0 }\n");
    const std::string server = service::kServerName;
    const std::string shuffler = service::kShufflerName;
    const std::vector<std::string> agents = {"agent/1", "agent/13"};
    const std::vector<std::string> three = {"agent/1", "agent/3"};
    return std::vector<ProcessKind>{
        {"server", Part::kServer, server, agents, central.c_str()},
        {"server-of-a-mix", Part::kServer, server, {shuffler, "agent/1", "agent/13"}, mixed.c_str()},
        {"server-of-bits", Part::kServer, server, {shuffler, "agent/1", "agent/13"}, sealed.c_str()},
        {"shuffler", Part::kShuffler, shuffler, {server, "agent/1", "agent/13"}, mixed.c_str()},
        {"shuffler-of-bits", Part::kShuffler, shuffler, {server, "agent/1", "agent/13"}, sealed.c_str()},
        {"agent", Part::kPlanAgent, "agent/1", {server}, central.c_str()},
        {"agent-of-bits", Part::kPlanAgent, "agent/1", {server, shuffler}, sealed.c_str()},
        {"controller", Part::kServer, server, three, batches.c_str()},
        {"round-agent", Part::kRoundAgent, "agent/1", {server}, batches.c_str()},
        {"peer", Part::kPeer, "peer/2", {"peer/1", "peer/3"}, peers.c_str()},
        {"network-server", Part::kNode, server, {"peer/1", "peer/2", "peer/3"}, components.c_str()},
        {"network-agent", Part::kNode, "peer/2", {server, "peer/1"}, components.c_str()},
        {"network-peer", Part::kNode, "peer/2", {"peer/1", "peer/3"}, ring.c_str()},
    };
  }());
  return kinds;
}

/// Returns the number of the partners as nodes, for machines in lock step.
inline NodeId NodeOf(const std::string& link) {
  const std::size_t slash = link.find('/');
  return slash == std::string::npos ? kServerNode
                                    : NodeId{static_cast<std::uint32_t>(std::stoul(link.substr(slash + 1)))};
}

/// The roles of one process, and its machine.
class Process {
 public:
  explicit Process(const ProcessKind& kind)
      : kind_(kind), instance_(InstanceOf(kind)), world_(WorldOf(kind)) {
    const Federation& federation = instance_.federation;
    const service::InsecureSeed seed{11, 0};
    const Count clients = federation.topology.clients();
    const auto* slots = std::get_if<SlotRoles>(&federation.roles);
    const auto* rounds = std::get_if<RoundRoles>(&federation.roles);
    const auto* ticks = std::get_if<TickRoles>(&federation.roles);
    if (slots != nullptr) route_ = service::RouteOf(*slots);
    switch (kind.part) {
      case Part::kServer:
        server_params_.clients = clients;
        server_params_.route = route_;
        server_params_.insecure_seed = seed;
        server_ = slots != nullptr ? slots->server() : rounds->controller(NodeId{1});
        machine_ = std::make_unique<service::ServerMachine>(server_params_, *server_, nullptr);
        break;
      case Part::kShuffler:
        server_ = slots->shuffler();
        machine_ = std::make_unique<service::ShufflerMachine>(clients, MakeMixer(clients, seed));
        break;
      case Part::kPlanAgent:
      case Part::kRoundAgent:
        agent_params_.route = route_;
        agent_params_.insecure_seed = seed;
        agent_params_.clients = slots != nullptr ? 12 : 2;
        if (slots != nullptr) {
          machine_ = service::MakePlanAgent(agent_params_, slots->client, dynamic_cast<SlotWorld&>(*world_));
        } else {
          auto& world = dynamic_cast<RoundWorld&>(*world_);
          machine_ = service::MakeRoundAgent(agent_params_, rounds->agent, world,
                                             service::OneRound::Create(world).value());
        }
        break;
      case Part::kPeer:
      case Part::kNode:
        peer_params_.self = NodeOf(kind.self);
        peer_params_.insecure_seed = seed;
        for (const std::string& partner : kind.partners) peer_params_.neighbours[NodeOf(partner)] = "";
        if (rounds != nullptr) {
          peer_params_.rounds = instance_.world->facts().horizon;
          round_player_ = rounds->agent(peer_params_.self);
          machine_ =
              service::MakePeer(peer_params_, *round_player_, dynamic_cast<RoundWorld&>(*world_)).value();
        } else {
          peer_params_.nodes = federation.topology.graph()->nodes();
          player_ = peer_params_.self == kServerNode ? ticks->server() : ticks->agent(peer_params_.self);
          machine_ =
              service::MakeNetworkNode(peer_params_, *player_, dynamic_cast<SlotWorld&>(*world_)).value();
        }
    }
  }

  service::Machine& machine() { return *machine_; }
  bool runs_differ() const { return kind_.part == Part::kPeer || kind_.part == Part::kNode; }

  /// Returns whether this process opens the connection to that partner.
  bool Dials(const std::string& partner) const {
    if (runs_differ()) return service::Dials(NodeOf(kind_.self), NodeOf(partner));
    return kind_.part != Part::kServer && !partner.starts_with("agent/");
  }

 private:
  // The parts that processes of a kind share are made once.
  static const lab::Settings& SettingsOf(const ProcessKind& kind) {
    static auto& known = *new std::map<std::string, lab::Settings>();
    const auto found = known.find(kind.spec);
    if (found != known.end()) return found->second;
    const absl::StatusOr<lab::Spec> spec = lab::ParseSpec(kind.spec, "x.toml", {});
    if (!spec.ok()) std::fprintf(stderr, "%s: %s\n", kind.name, spec.status().ToString().c_str());
    return known[kind.spec] = spec.value().points.front().settings;
  }
  static const lab::Instance& InstanceOf(const ProcessKind& kind) {
    static auto& known = *new std::map<std::string, lab::Instance>();
    const auto found = known.find(kind.spec);
    if (found != known.end()) return found->second;
    absl::StatusOr<lab::Instance> instance = lab::MakeInstance(SettingsOf(kind), 0);
    if (!instance.ok()) std::fprintf(stderr, "%s: %s\n", kind.name, instance.status().ToString().c_str());
    return known.emplace(kind.spec, std::move(instance).value()).first->second;
  }
  static std::unique_ptr<World> WorldOf(const ProcessKind& kind) {
    lab::Experiment experiment = InstanceOf(kind).experiment;
    return lab::MakeWorldOf(experiment, 0).value();
  }

  std::unique_ptr<service::Mixer> MakeMixer(Count clients, service::InsecureSeed seed) {
    if (route_.sealed()) return std::make_unique<service::BitMixer>(route_);
    return std::make_unique<service::RoleMixer>(*server_, clients, seed);
  }

  const ProcessKind& kind_;
  const lab::Instance& instance_;
  std::unique_ptr<World> world_;
  service::Route route_;
  service::ServerParams server_params_{.budget_per_client = {0, 0}};
  service::AgentParams agent_params_{.first_client = NodeId{1}, .budget_per_client = {0, 0}};
  service::PeerParams peer_params_{.listen = "127.0.0.1:0", .budget = {0, 0}};
  std::unique_ptr<Node> server_;
  std::unique_ptr<NetworkPlayer> player_;
  std::unique_ptr<RoundPlayer<double>> round_player_;
  std::unique_ptr<service::Machine> machine_;
};

}  // namespace bandana::fuzz
