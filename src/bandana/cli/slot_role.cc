#include <cstdio>
#include <memory>
#include <utility>

#include "bandana/cli/live_role.h"
#include "bandana/cli/output.h"
#include "bandana/cli/phase_log.h"
#include "bandana/cli/role_run.h"
#include "bandana/cli/role_store.h"
#include "bandana/core/status.h"
#include "bandana/lab/phase_json.h"
#include "bandana/service/agent.h"
#include "bandana/service/names.h"
#include "bandana/service/roster.h"
#include "bandana/service/route.h"
#include "bandana/service/server.h"
#include "bandana/service/shuffler.h"
#include "fmt/format.h"

/// Roles that work in slots: a server that plans phases, agents that hold its clients, and the shuffler
/// between them.
namespace bandana::cli {
namespace {

const SlotRoles& SlotRolesOf(const RoleRun& run) { return std::get<SlotRoles>(run.federation().roles); }

// Returns the route of reports. Fails at the start if reports would have too many bits for every query; with
// all clients in one query a report has the fewest bits.
absl::StatusOr<service::Route> MakeRoute(const RoleRun& run) {
  service::Route route = service::RouteOf(SlotRolesOf(run));
  if (route.sealed()) {
    const MeanQuery easiest{{{0, 1}}, run.federation().topology.clients()};
    BANDANA_RETURN_IF_ERROR(route.bits_per_coordinate(easiest).status());
  }
  return route;
}

// Writes an event for each phase that the server has completed.
class PhaseTeller {
 public:
  PhaseTeller(const RoleRun& run, const Node& server) : run_(run), server_(server) {}

  void Tell() {
    Observations observations;
    server_.Describe(observations);
    for (; told_ < observations.phases.size(); ++told_) {
      LogPhase(run_.log, observations.phases[told_]);
    }
  }

 private:
  const RoleRun& run_;
  const Node& server_;
  std::size_t told_ = 0;
};

absl::StatusOr<lab::Json> ServeSlots(const RoleRun& run) {
  const Federation& federation = run.federation();
  BANDANA_ASSIGN_OR_RETURN(service::ServerParams params, run.Server());
  BANDANA_ASSIGN_OR_RETURN(params.route, MakeRoute(run));
  if (!params.route.sealed()) params.answer_timeout = kAnswerTimeout;
  const std::unique_ptr<Node> server = SlotRolesOf(run).server();
  BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<RoleStore> store,
                           RoleStore::Open(run, service::kServerName, federation.budget));
  params.deployed = store->deployed();
  PhaseTeller phases(run, *server);
  const auto on_play = [&](std::span<const Pull> pulls) {
    phases.Tell();
    lab::Json json = lab::Json::array();
    for (const Pull& pull : pulls) json.push_back({pull.arm, pull.count});
    run.log.Trace("play", {{"pulls", json}});
  };
  BANDANA_ASSIGN_OR_RETURN(const service::ServerReport report, service::RunServer(params, *server, on_play));
  phases.Tell();
  Observations observations;
  server->Describe(observations);
  return run.Done({{"shares", report.shares},
                   {"reals", report.reals},
                   {"bytes_in", report.bytes_in},
                   {"bytes_out", report.bytes_out},
                   {"spent", federation.charges_server ? GuaranteeJson(report.spent) : lab::Json(nullptr)},
                   {"seconds", report.seconds},
                   {"active", observations.active}},
                  store->head());
}

absl::StatusOr<lab::Json> Participate(const RoleRun& run) {
  const Federation& federation = run.federation();
  BANDANA_ASSIGN_OR_RETURN(service::AgentParams params, run.Agent());
  BANDANA_ASSIGN_OR_RETURN(params.route, MakeRoute(run));
  if (params.route.shuffled) {
    BANDANA_ASSIGN_OR_RETURN(params.shuffler, run.config.Service("shuffler"));
  }
  BANDANA_ASSIGN_OR_RETURN(
      const std::unique_ptr<RoleStore> store,
      RoleStore::Open(run, service::Roster::LinkOf(params.first_client), federation.budget));
  params.deployed = store->deployed();
  BANDANA_ASSIGN_OR_RETURN(
      const service::AgentReport report,
      service::RunAgent(params, SlotRolesOf(run).client, dynamic_cast<SlotWorld&>(*run.instance.world)));
  lab::Json done = run.Summary(report);
  run.TellDone(done);
  return done;
}

absl::Status CheckShuffler(const RoleRun& run) {
  if (SlotRolesOf(run).shuffler == nullptr) {
    return run.config.WithSource(
        InvalidInput({.message = "this trust model has no shuffler; start a server and agents",
                      .key = "privacy.model",
                      .value = NameOf(run.instance.experiment.privacy.model),
                      .accepted = "shuffle"}));
  }
  for (const char* key : {"service.ledger_mirror", "service.deployment_epsilon", "service.deployment_delta",
                          "service.client_epsilon", "service.client_delta"}) {
    if (!run.config.spec.service.Has(key)) continue;
    return run.config.WithSource(
        InvalidInput({.message = "a shuffler keeps no ledger: agents charge the reports of their clients",
                      .key = key,
                      .accepted = "in the configuration of an agent or a server"}));
  }
  return absl::OkStatus();
}

absl::StatusOr<lab::Json> Shuffle(const RoleRun& run) {
  BANDANA_RETURN_IF_ERROR(CheckShuffler(run));
  BANDANA_ASSIGN_OR_RETURN(const std::string listen, run.config.Service("listen"));
  BANDANA_ASSIGN_OR_RETURN(const std::string server, run.config.Service("server"));
  BANDANA_ASSIGN_OR_RETURN(const service::Route route, MakeRoute(run));
  BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<RoleStore> store,
                           RoleStore::Open(run, service::kShufflerName, run.federation().budget));
  const service::ShufflerParams params{
      .listen = listen,
      .server = server,
      .clients = run.federation().topology.clients(),
      .spec_digest = run.config.Digest(),
      .insecure_seed = run.config.insecure_seed,
      .connect_timeout = kConnectTimeout,
      .stop = run.stop,
      .on_listening = [&](const std::string& address) { run.TellListening(address); },
      .deployed = store->deployed()};
  const std::unique_ptr<Node> role = SlotRolesOf(run).shuffler();
  BANDANA_ASSIGN_OR_RETURN(const service::ShufflerReport report, route.sealed()
                                                                     ? service::RunBitShuffler(params, route)
                                                                     : service::RunShuffler(params, *role));
  lab::Json done = {{"role", NameOf(run.kind)},      {"shares", report.shares},
                    {"mixes", report.mixes},         {"bytes_in", report.bytes_in},
                    {"bytes_out", report.bytes_out}, {"seconds", report.seconds}};
  run.TellDone(done);
  return done;
}

}  // namespace

absl::StatusOr<lab::Json> RunSlotRole(const RoleRun& run) {
  if (IsLive(run)) return ServeLive(run);
  switch (run.kind) {
    case RoleKind::kServer:
      return ServeSlots(run);
    case RoleKind::kAgent:
      return Participate(run);
    case RoleKind::kShuffler:
      return Shuffle(run);
    case RoleKind::kPeer:
      break;
  }
  return run.Refuse("algorithm.name", run.algorithm(), "fed-ucb-p2p, ddp-mab for a peer");
}

}  // namespace bandana::cli
