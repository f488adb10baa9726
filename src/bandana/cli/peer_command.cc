#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bandana/cli/commands.h"
#include "bandana/cli/network_role.h"
#include "bandana/cli/place.h"
#include "bandana/cli/role.h"
#include "bandana/cli/telling_player.h"
#include "bandana/core/status.h"
#include "bandana/lab/algorithms.h"
#include "bandana/lab/experiment.h"
#include "bandana/lab/federated.h"
#include "bandana/lab/federated_parts.h"
#include "bandana/service/peer.h"
#include "fmt/format.h"

namespace bandana::cli {
namespace {

constexpr absl::Duration kConnectTimeout = absl::Minutes(1);
constexpr absl::Duration kSilenceTimeout = absl::Minutes(1);

absl::StatusOr<lab::Json> Play(const RoleConfig& config, Events& events, const Global& global,
                               const std::stop_token& stop) {
  if (lab::AlgorithmOf(config.settings).arms) {
    return RunNetworkRole(config, NetworkRole::kPeer, events, global, stop);
  }
  if (!lab::IsPeers(config.settings)) {
    return BadService(config, "algorithm.name", config.settings.Text("algorithm.name"),
                      "fed-ucb-p2p, ddp-mab for a peer");
  }
  if (lab::HasTrigger(config.settings)) {
    return BadService(
        config, "algorithm.sync", "determinant",
        "a public schedule: no guarantee survives synchronisation times that depend on unreleased data");
  }
  BANDANA_RETURN_IF_ERROR(lab::CheckPoint(config.settings));
  const Count agents = lab::AgentsOf(config.settings);
  BANDANA_ASSIGN_OR_RETURN(const NodeId self, NodeOf(config, agents));
  BANDANA_ASSIGN_OR_RETURN(const std::vector<std::string> addresses, AddressesOf(config, agents));
  BANDANA_ASSIGN_OR_RETURN(const auto parts, lab::FederatedParts::Create(config.settings));
  BANDANA_ASSIGN_OR_RETURN(const RoundContexts contexts, lab::MakeRoundContexts(config.settings, 0));
  BANDANA_ASSIGN_OR_RETURN(const std::vector<Claim> claims, lab::ClaimsOf(config.settings));
  const DpGuarantee budget = parts->PrivatizerOf(self).guarantee();
  BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<Ledger> ledger,
                           OpenLedger(config, claims, budget, Ledger::Durability::kGrouped));
  service::PeerParams params{.self = self,
                             .listen = addresses[self.value - 1],
                             .rounds = config.settings.Integer("horizon"),
                             .spec_digest = config.Digest(),
                             .budget = budget,
                             .ledger = ledger.get(),
                             .insecure_seed = config.insecure_seed,
                             .connect_timeout = kConnectTimeout,
                             .silence_timeout = kSilenceTimeout,
                             .stop = stop};
  for (const NodeId neighbour : parts->graph().neighbours(self)) {
    params.neighbours[neighbour] = addresses[neighbour.value - 1];
  }
  params.on_listening = [&](const std::string& address) {
    events.Write("listening", {{"address", address}});
    if (!global.quiet) fmt::print(stderr, "listening on {}\n", address);
  };
  lab::RoundContextsWorld world(contexts, params.rounds);
  auto made = parts->MakePeer<double>(self);
  const auto& role = *made;
  std::optional<TellingPlayer> telling(std::in_place, std::move(made), self, events);
  BANDANA_ASSIGN_OR_RETURN(const service::PeerReport report, service::RunPeer(params, *telling, world));
  const Count repairs = role.repairs();
  telling.reset();  // tells the rest
  lab::Json lost = lab::Json::array();
  for (const service::LostNeighbour& each : report.lost) {
    lost.push_back({{"node", each.node.value}, {"round", each.round}, {"why", each.why}});
    if (!global.quiet) {
      fmt::print(stderr, "lost neighbour {} in round {}: {}\n", each.node.value, each.round, each.why);
    }
  }
  lab::Json done = {{"role", "peer"},
                    {"node", self.value},
                    {"rounds", report.rounds},
                    {"messages_in", report.messages_in},
                    {"messages_out", report.messages_out},
                    {"bytes_in", report.bytes_in},
                    {"bytes_out", report.bytes_out},
                    {"lost", lost},
                    {"repairs", repairs},
                    {"spent", lab::IsPrivate(config.settings) ? ToJson(report.spent) : lab::Json(nullptr)},
                    {"seconds", report.seconds}};
  done["void"] = config.insecure_seed ? lab::Json(kInsecureSeedVoids) : lab::Json(nullptr);
  events.Write("done", done);
  if (!global.quiet && !global.json) fmt::print(stderr, "{}\n", Delivered(config, claims, ledger.get()));
  return done;
}

}  // namespace

int PeerCommand(const RoleArguments& arguments, const Global& global) {
  const absl::StatusOr<RoleConfig> config = LoadRole(arguments);
  if (!config.ok()) return Fail(config.status(), global);
  NoteKeysWithoutEffect(config->spec, global);
  Events events;
  if (const absl::Status status = events.Open(arguments.events); !status.ok()) return Fail(status, global);
  const StopOnInterrupt stop;
  return Finish(Play(*config, events, global, stop.token()), *config, global);
}

}  // namespace bandana::cli
