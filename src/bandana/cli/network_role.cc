#include "bandana/cli/network_role.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bandana/cli/place.h"
#include "bandana/cli/telling_network_player.h"
#include "bandana/core/status.h"
#include "bandana/lab/arm_parts.h"
#include "bandana/lab/experiment.h"
#include "bandana/lab/federated_parts.h"
#include "bandana/service/network_node.h"
#include "fmt/format.h"

namespace bandana::cli {
namespace {

constexpr absl::Duration kConnectTimeout = absl::Minutes(1);
constexpr absl::Duration kSilenceTimeout = absl::Minutes(1);

// A server pulls nothing.
class NoWorld final : public Environment {
 public:
  absl::Status Answer(NodeId, Epoch, std::span<const Pull>, std::span<RewardSum>) override {
    return absl::InternalError("a server pulls no arm");
  }
};

std::string NameOf(NetworkRole role) {
  switch (role) {
    case NetworkRole::kServer:
      return "server";
    case NetworkRole::kAgent:
      return "agent";
    case NetworkRole::kPeer:
      break;
  }
  return "peer";
}

absl::Status CheckRole(const RoleConfig& config, NetworkRole role) {
  const std::string& name = config.settings.Text("algorithm.name");
  const bool has_server = name == "cdp-mab" || name == "hdp-mab";
  if (!has_server && name != "ddp-mab") {
    return BadService(config, "algorithm.name", name,
                      "cdp-mab, ddp-mab, hdp-mab: agents that are alone run in `bandana run`");
  }
  if (has_server != (role != NetworkRole::kPeer)) {
    return BadService(
        config, "algorithm.name", name,
        role == NetworkRole::kPeer
            ? "ddp-mab for a peer; cdp-mab and hdp-mab run as `bandana server` and `bandana agent`"
            : "cdp-mab, hdp-mab for a server and its agents; ddp-mab runs as `bandana peer`");
  }
  if (config.settings.Text("federation.failures") != "none") {
    return BadService(config, "federation.failures", config.settings.Text("federation.failures"),
                      "none: what goes wrong between processes is not told beforehand");
  }
  if (config.settings.Number("federation.dropout") > 0) {
    return BadService(config, "federation.dropout",
                      fmt::format("{}", config.settings.Number("federation.dropout")),
                      "0: what is lost between processes is not drawn");
  }
  if (const lab::Value* gap = config.settings.Find("algorithm.gap");
      gap != nullptr && lab::ToText(*gap) == "known") {
    return BadService(config, "algorithm.gap", "known", "auto, or a number: only a simulation knows the gap");
  }
  return lab::CheckPoint(config.settings);
}

// Who it is, and where it finds whom.
absl::StatusOr<service::PeerParams> PlaceOf(const RoleConfig& config, NetworkRole role, const Graph& graph) {
  service::PeerParams params{.nodes = graph.nodes(),
                             .spec_digest = config.Digest(),
                             .insecure_seed = config.insecure_seed,
                             .connect_timeout = kConnectTimeout,
                             .silence_timeout = kSilenceTimeout};
  if (role == NetworkRole::kServer) {
    params.self = kServerNode;
    const bool listens =
        config.spec.service.Has("service.listen") || !config.spec.service.Has("service.server");
    BANDANA_ASSIGN_OR_RETURN(params.listen, config.Service(listens ? "listen" : "server"));
    for (std::uint32_t i = 1; i <= graph.nodes(); ++i) params.neighbours[NodeId{i}] = "";
    return params;
  }
  BANDANA_ASSIGN_OR_RETURN(params.self, NodeOf(config, graph.nodes()));
  if (role == NetworkRole::kAgent) {
    BANDANA_ASSIGN_OR_RETURN(params.neighbours[kServerNode], config.Service("server"));
  }
  if (graph.neighbours(params.self).empty()) return params;
  BANDANA_ASSIGN_OR_RETURN(const std::vector<std::string> addresses, AddressesOf(config, graph.nodes()));
  params.listen = addresses[params.self.value - 1];
  for (const NodeId other : graph.neighbours(params.self)) {
    params.neighbours[other] = addresses[other.value - 1];
  }
  return params;
}

lab::Json TellLost(const std::vector<service::LostNeighbour>& lost, const Global& global) {
  lab::Json told = lab::Json::array();
  for (const service::LostNeighbour& each : lost) {
    told.push_back({{"node", each.node.value}, {"tick", each.round}, {"why", each.why}});
    if (global.quiet) continue;
    const std::string who =
        each.node == kServerNode ? "the server" : fmt::format("neighbour {}", each.node.value);
    fmt::print(stderr, "lost {} in tick {}: {}\n", who, each.round, each.why);
  }
  return told;
}

}  // namespace

absl::StatusOr<lab::Json> RunNetworkRole(const RoleConfig& config, NetworkRole role, Events& events,
                                         const Global& global, const std::stop_token& stop) {
  BANDANA_RETURN_IF_ERROR(CheckRole(config, role));
  BANDANA_ASSIGN_OR_RETURN(const auto parts, lab::ArmParts::Create(config.settings));
  BANDANA_ASSIGN_OR_RETURN(service::PeerParams params, PlaceOf(config, role, parts->graph()));
  BANDANA_ASSIGN_OR_RETURN(const std::vector<Claim> claims, lab::ClaimsOf(config.settings));
  params.budget = parts->privatizer().guarantee();
  const bool plays = role != NetworkRole::kServer;
  std::unique_ptr<Ledger> ledger;
  std::unique_ptr<Environment> world = std::make_unique<NoWorld>();
  if (plays) {
    BANDANA_ASSIGN_OR_RETURN(ledger, OpenLedger(config, claims, params.budget, Ledger::Durability::kGrouped));
    BANDANA_ASSIGN_OR_RETURN(ArmWorld arms, parts->MakeWorld());
    world = std::make_unique<ArmWorld>(std::move(arms));
  }
  params.ledger = ledger.get();
  params.stop = stop;
  params.on_listening = [&](const std::string& address) {
    if (address.empty()) return;
    events.Write("listening", {{"address", address}});
    if (!global.quiet) fmt::print(stderr, "listening on {}\n", address);
  };
  std::unique_ptr<NetworkPlayer> player;
  if (plays) {
    player = parts->MakeAgent(params.self);
  } else {
    player = parts->MakeServer();
  }
  std::optional<TellingNetworkPlayer> telling(std::in_place, std::move(player), params.self, events);
  BANDANA_ASSIGN_OR_RETURN(const service::PeerReport report,
                           service::RunNetworkNode(params, *telling, *world));
  telling.reset();  // tells the rest
  const bool is_charged = plays && lab::IsPrivate(config.settings);
  lab::Json done = {{"role", NameOf(role)},
                    {"node", params.self.value},
                    {"ticks", report.rounds},
                    {"messages_in", report.messages_in},
                    {"messages_out", report.messages_out},
                    {"bytes_in", report.bytes_in},
                    {"bytes_out", report.bytes_out},
                    {"lost", TellLost(report.lost, global)},
                    {"spent", is_charged ? ToJson(report.spent) : lab::Json(nullptr)},
                    {"seconds", report.seconds}};
  done["void"] = config.insecure_seed ? lab::Json(kInsecureSeedVoids) : lab::Json(nullptr);
  events.Write("done", done);
  if (!global.quiet && !global.json) fmt::print(stderr, "{}\n", Delivered(config, claims, ledger.get()));
  return done;
}

}  // namespace bandana::cli
