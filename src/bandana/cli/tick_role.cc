#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bandana/cli/event_network_player.h"
#include "bandana/cli/output.h"
#include "bandana/cli/role_run.h"
#include "bandana/cli/role_store.h"
#include "bandana/core/status.h"
#include "bandana/federation/failure.h"
#include "bandana/service/lock_step.h"
#include "bandana/service/network_node.h"
#include "fmt/format.h"

/// Roles that work in ticks. Each is a node of a network that looks for the best arm: the server, an agent,
/// or a peer.
namespace bandana::cli {
namespace {

const TickRoles& TickRolesOf(const RoleRun& run) { return std::get<TickRoles>(run.federation().roles); }

// The environment of a server, which pulls no arm.
class NoWorld final : public SlotWorld {
 public:
  const Facts& facts() const override { return facts_; }
  absl::Status Answer(NodeId, Epoch, std::span<const Pull>, std::span<RewardSum>) override {
    return absl::InternalError("a server pulls no arm");
  }

 private:
  Facts facts_;
};

absl::Status CheckTickRole(const RoleRun& run) {
  const Topology& topology = run.federation().topology;
  const bool alone = !topology.has_server() && topology.graph()->edges() == 0 && topology.clients() > 1;
  if (alone) {
    return run.Refuse("algorithm.name", run.algorithm(),
                      "cdp-mab, ddp-mab, hdp-mab; agents without links run only in `bandana run`");
  }
  if (run.kind == RoleKind::kShuffler) return run.NeedsNoShuffler();
  if (topology.has_server() != (run.kind != RoleKind::kPeer)) {
    return run.Refuse(
        "algorithm.name", run.algorithm(),
        run.kind == RoleKind::kPeer
            ? "ddp-mab for a peer; cdp-mab and hdp-mab run as `bandana server` and `bandana agent`"
            : "cdp-mab, hdp-mab for a server and its agents; ddp-mab runs as `bandana peer`");
  }
  const Value* gap = run.config.settings.Find("algorithm.gap");
  if (gap == nullptr || !IsWord(*gap, "known")) return absl::OkStatus();
  return run.Refuse("algorithm.gap", "known", "auto, or a number: only a simulation knows the gap");
}

// Returns the node's number, its own address and the addresses of its neighbours.
absl::StatusOr<service::PeerParams> ParamsOf(const RoleRun& run) {
  const Graph& graph = *run.federation().topology.graph();
  service::PeerParams params{.nodes = graph.nodes(),
                             .spec_digest = run.config.Digest(),
                             .insecure_seed = run.config.insecure_seed,
                             .connect_timeout = kPeerTimeout};
  if (run.kind == RoleKind::kServer) {
    params.self = kServerNode;
    const lab::Settings& given = run.config.spec.service;
    const bool listens = given.Has("service.listen") || !given.Has("service.server");
    BANDANA_ASSIGN_OR_RETURN(params.listen, run.config.Service(listens ? "listen" : "server"));
    for (std::uint32_t i = 1; i <= graph.nodes(); ++i) params.neighbours[NodeId{i}] = "";
    return params;
  }
  BANDANA_ASSIGN_OR_RETURN(params.self, NodeOf(run.config, graph.nodes()));
  if (run.kind == RoleKind::kAgent) {
    BANDANA_ASSIGN_OR_RETURN(params.neighbours[kServerNode], run.config.Service("server"));
  }
  if (graph.neighbours(params.self).empty()) return params;
  BANDANA_ASSIGN_OR_RETURN(const std::vector<std::string> addresses, AddressesOf(run.config, graph.nodes()));
  params.listen = addresses[params.self.value - 1];
  for (const NodeId other : graph.neighbours(params.self)) {
    params.neighbours[other] = addresses[other.value - 1];
  }
  return params;
}

lab::Json TellLost(const RoleRun& run, const std::vector<service::LostNeighbour>& lost) {
  lab::Json told = lab::Json::array();
  for (const service::LostNeighbour& each : lost) {
    told.push_back({{"node", each.node.value}, {"tick", each.round}, {"why", each.why}});
    const std::string who =
        each.node == kServerNode ? "the server" : fmt::format("neighbour {}", each.node.value);
    run.log.Write(
        RoleLog::Level::kWarn, "lost",
        {{"link", service::NodeLink(each.node)}, {"round", each.round}, {"why", Printable(each.why)}},
        fmt::format("{} was lost in tick {}: {}", who, each.round, each.why));
  }
  return told;
}

}  // namespace

absl::StatusOr<lab::Json> RunTickRole(const RoleRun& run) {
  BANDANA_RETURN_IF_ERROR(CheckTickRole(run));
  BANDANA_ASSIGN_OR_RETURN(service::PeerParams params, ParamsOf(run));
  const Federation& federation = run.federation();
  params.budget = federation.budget;
  const bool plays = run.kind != RoleKind::kServer;
  BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<RoleStore> store,
                           RoleStore::Open(run, service::NodeLink(params.self), params.budget));
  params.deployed = store->deployed();
  params.stop = run.stop;
  params.on_listening = [&](const std::string& address) { run.TellListening(address); };
  NoWorld nothing;
  SlotWorld& world = plays ? dynamic_cast<SlotWorld&>(*run.instance.world) : nothing;
  std::optional<EventNetworkPlayer> player(
      std::in_place, plays ? TickRolesOf(run).agent(params.self) : TickRolesOf(run).server(), params.self,
      run.log);
  BANDANA_ASSIGN_OR_RETURN(const service::PeerReport report, service::RunNetworkNode(params, *player, world));
  player.reset();  // writes the rest of its pulls
  const bool is_charged = plays && federation.charges_clients;
  return run.Done({{"node", params.self.value},
                   {"ticks", report.rounds},
                   {"messages_in", report.messages_in},
                   {"messages_out", report.messages_out},
                   {"bytes_in", report.bytes_in},
                   {"bytes_out", report.bytes_out},
                   {"lost", TellLost(run, report.lost)},
                   {"spent", is_charged ? GuaranteeJson(report.spent) : lab::Json(nullptr)},
                   {"seconds", report.seconds}},
                  plays ? store->head() : std::nullopt);
}

}  // namespace bandana::cli
