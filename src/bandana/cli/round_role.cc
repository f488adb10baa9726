#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "bandana/cli/event_round_player.h"
#include "bandana/cli/output.h"
#include "bandana/cli/role_run.h"
#include "bandana/cli/role_store.h"
#include "bandana/core/status.h"
#include "bandana/service/lock_step.h"
#include "bandana/service/names.h"
#include "bandana/service/peer.h"
#include "bandana/service/roster.h"
#include "bandana/service/round_agent.h"
#include "bandana/service/server.h"
#include "fmt/format.h"

/// Roles that play round by round: agents with their own decision sets, their controller, and peers.
namespace bandana::cli {
namespace {

const RoundRoles& RoundRolesOf(const RoleRun& run) { return std::get<RoundRoles>(run.federation().roles); }

RoundWorld& WorldOf(const RoleRun& run) { return dynamic_cast<RoundWorld&>(*run.instance.world); }

// Fails if the service cannot run this role. A deployment has one controller for all agents, or peers without
// a controller.
absl::Status CheckRoundRole(const RoleRun& run) {
  if (run.kind == RoleKind::kShuffler) return run.NeedsNoShuffler();
  const RoundRoles& roles = RoundRolesOf(run);
  const bool peers = roles.controller == nullptr;
  if (peers != (run.kind == RoleKind::kPeer) || (!peers && roles.groups.size() > 1)) {
    return run.Refuse("algorithm.name", run.algorithm(),
                      run.kind == RoleKind::kPeer ? "fed-ucb-p2p, ddp-mab for a peer"
                                                  : "fed-ucb; fed-ucb-p2p runs as `bandana peer`");
  }
  if (roles.shuffler != nullptr) {
    return run.Refuse("privacy.model", NameOf(run.instance.experiment.privacy.model), "none, silo");
  }
  if (!roles.lock_step) return absl::OkStatus();
  return run.Refuse(
      "algorithm.sync", run.config.settings.Text("algorithm.sync"),
      "a public schedule: if the times of syncs depend on unreleased data, there is no guarantee");
}

absl::StatusOr<lab::Json> ServeRounds(const RoleRun& run) {
  BANDANA_ASSIGN_OR_RETURN(service::ServerParams params, run.Server());
  BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<RoleStore> store,
                           RoleStore::Open(run, service::kServerName, run.federation().budget));
  params.deployed = store->deployed();
  const std::unique_ptr<Node> controller = RoundRolesOf(run).controller(NodeId{1});
  BANDANA_ASSIGN_OR_RETURN(const service::ServerReport report,
                           service::RunServer(params, *controller, [](std::span<const Pull>) {}));
  Observations observations;
  controller->Describe(observations);
  return run.Done({{"synchronisations", static_cast<Count>(observations.numbers["syncs"])},
                   {"shares", report.shares},
                   {"reals", report.reals},
                   {"bytes_in", report.bytes_in},
                   {"bytes_out", report.bytes_out},
                   {"spent", nullptr},
                   {"seconds", report.seconds}},
                  store->head());
}

absl::StatusOr<lab::Json> Play(const RoleRun& run) {
  const Federation& federation = run.federation();
  BANDANA_ASSIGN_OR_RETURN(service::AgentParams params, run.Agent());
  BANDANA_ASSIGN_OR_RETURN(
      const std::unique_ptr<RoleStore> store,
      RoleStore::Open(run, service::Roster::LinkOf(params.first_client), federation.budget));
  params.deployed = store->deployed();
  const auto make_player = [&](NodeId agent) -> std::unique_ptr<RoundPlayer<double>> {
    return std::make_unique<EventRoundPlayer>(RoundRolesOf(run).agent(agent), agent, run.log);
  };
  BANDANA_ASSIGN_OR_RETURN(const service::AgentReport report,
                           service::RunRoundAgent(params, make_player, WorldOf(run)));
  lab::Json done = run.Summary(report);
  run.TellDone(done);
  return done;
}

lab::Json TellLost(const RoleRun& run, const std::vector<service::LostNeighbour>& lost) {
  lab::Json told = lab::Json::array();
  for (const service::LostNeighbour& each : lost) {
    told.push_back({{"node", each.node.value}, {"round", each.round}, {"why", each.why}});
    run.log.Write(
        RoleLog::Level::kWarn, "lost",
        {{"link", service::NodeLink(each.node)}, {"round", each.round}, {"why", Printable(each.why)}},
        fmt::format("neighbour {} was lost in round {}: {}", each.node.value, each.round, each.why));
  }
  return told;
}

absl::StatusOr<lab::Json> PlayAsPeer(const RoleRun& run) {
  const Federation& federation = run.federation();
  const Graph& graph = *federation.topology.graph();
  BANDANA_ASSIGN_OR_RETURN(const NodeId self, NodeOf(run.config, graph.nodes()));
  BANDANA_ASSIGN_OR_RETURN(const std::vector<std::string> addresses, AddressesOf(run.config, graph.nodes()));
  const RoundRoles& roles = RoundRolesOf(run);
  const DpGuarantee budget = roles.budget == nullptr ? federation.budget : roles.budget(self);
  BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<RoleStore> store,
                           RoleStore::Open(run, service::NodeLink(self), budget));
  service::PeerParams params{.self = self,
                             .listen = addresses[self.value - 1],
                             .rounds = run.instance.world->facts().horizon,
                             .spec_digest = run.config.Digest(),
                             .budget = budget,
                             .insecure_seed = run.config.insecure_seed,
                             .connect_timeout = kPeerTimeout,
                             .stop = run.stop,
                             .deployed = store->deployed()};
  for (const NodeId neighbour : graph.neighbours(self)) {
    params.neighbours[neighbour] = addresses[neighbour.value - 1];
  }
  params.on_listening = [&](const std::string& address) { run.TellListening(address); };
  std::optional<EventRoundPlayer> player(std::in_place, roles.agent(self), self, run.log);
  BANDANA_ASSIGN_OR_RETURN(const service::PeerReport report, service::RunPeer(params, *player, WorldOf(run)));
  Observations observations;
  player->Describe(observations);
  player.reset();  // writes the rest of its decisions
  return run.Done({{"node", self.value},
                   {"rounds", report.rounds},
                   {"messages_in", report.messages_in},
                   {"messages_out", report.messages_out},
                   {"bytes_in", report.bytes_in},
                   {"bytes_out", report.bytes_out},
                   {"lost", TellLost(run, report.lost)},
                   {"repairs", static_cast<Count>(observations.numbers["repairs"])},
                   {"spent", federation.charges_clients ? GuaranteeJson(report.spent) : lab::Json(nullptr)},
                   {"seconds", report.seconds}},
                  store->head());
}

}  // namespace

absl::StatusOr<lab::Json> RunRoundRole(const RoleRun& run) {
  BANDANA_RETURN_IF_ERROR(CheckRoundRole(run));
  if (run.kind == RoleKind::kPeer) return PlayAsPeer(run);
  return run.kind == RoleKind::kServer ? ServeRounds(run) : Play(run);
}

}  // namespace bandana::cli
