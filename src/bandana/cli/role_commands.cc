#include <cstdio>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "bandana/cli/commands.h"
#include "bandana/cli/network_role.h"
#include "bandana/cli/role.h"
#include "bandana/cli/telling_player.h"
#include "bandana/core/status.h"
#include "bandana/federation/shuffler.h"
#include "bandana/lab/algorithms.h"
#include "bandana/lab/experiment.h"
#include "bandana/lab/federated_parts.h"
#include "bandana/lab/phase_json.h"
#include "bandana/service/agent.h"
#include "bandana/service/round_agent.h"
#include "bandana/service/route.h"
#include "bandana/service/server.h"
#include "bandana/service/shuffler.h"
#include "fmt/format.h"

namespace bandana::cli {
namespace {

constexpr absl::Duration kJoinTimeout = absl::Minutes(5);
constexpr absl::Duration kAnswerTimeout = absl::Minutes(5);
constexpr absl::Duration kSealedAnswerTimeout = absl::Hours(1);  // 12,000 bits a second a core are sealed
constexpr absl::Duration kConnectTimeout = absl::Seconds(30);

struct ClientRange {
  NodeId first;
  Count count = 0;
};

// "FIRST-LAST" within 1 .. population.
absl::StatusOr<ClientRange> ParseClients(const RoleConfig& config, Count population) {
  BANDANA_ASSIGN_OR_RETURN(const std::string text, config.Service("clients"));
  const std::vector<std::string> ends = absl::StrSplit(text, '-');
  Count first = 0;
  Count last = 0;
  if (ends.size() != 2 || !absl::SimpleAtoi(ends[0], &first) || !absl::SimpleAtoi(ends[1], &last) ||
      !(1 <= first && first <= last && last <= population)) {
    return InvalidInput({.message = "not a range of clients",
                         .file = config.spec.file,
                         .key = "service.clients",
                         .value = text,
                         .accepted = fmt::format("FIRST-LAST with 1 <= FIRST <= LAST <= {}", population)});
  }
  return ClientRange{NodeId{static_cast<std::uint32_t>(first)}, last - first + 1};
}

// Refuses at the start what no query could be: with all clients a report takes the fewest bits.
template <class P>
absl::StatusOr<service::Route> MakeRoute(const RoleConfig& config, const P& privatizer) {
  service::Route route = service::RouteOf(privatizer);
  if (route.sealed()) {
    const MeanQuery easiest{{{0, 1}}, lab::PopulationOf(config.settings)};
    BANDANA_RETURN_IF_ERROR(route.bits_per_coordinate(easiest).status());
  }
  return route;
}

template <class P>
absl::StatusOr<lab::Json> Serve(const RoleConfig& config, const P& privatizer, Events& events,
                                const Global& global, const std::stop_token& stop) {
  BANDANA_ASSIGN_OR_RETURN(const std::string listen, config.Service("listen"));
  BANDANA_ASSIGN_OR_RETURN(const service::Route route, MakeRoute(config, privatizer));
  // A server knows the actions and nothing of theta; in the lab's environments both are drawn together.
  BANDANA_ASSIGN_OR_RETURN(const auto problem, lab::MakeProblem(config.settings, 0));
  BANDANA_ASSIGN_OR_RETURN(const auto actions, lab::LearnersActions(config.settings, problem));
  BANDANA_ASSIGN_OR_RETURN(auto server, EliminationServer<P>::Create(
                                            lab::MakeRules(config.settings, *actions), actions, privatizer));

  BANDANA_ASSIGN_OR_RETURN(
      const std::unique_ptr<Ledger> ledger,
      OpenLedger(config, privatizer.claims(), privatizer.guarantee(), Ledger::Durability::kEach));
  std::size_t told = 0;
  const auto tell_phases = [&] {
    const std::vector<PhaseRecord>& history = server.policy().history();
    for (; told < history.size(); ++told) {
      events.Write("phase", lab::ToJson(history[told]));
      if (!global.quiet && !global.json) {
        fmt::print(stderr, "phase {}: {} clients, {} actions left\n", history[told].epoch,
                   history[told].clients, history[told].active.size());
      }
    }
  };
  const auto on_play = [&](std::span<const Pull> pulls) {
    tell_phases();
    lab::Json json = lab::Json::array();
    for (const Pull& pull : pulls) json.push_back({pull.arm, pull.count});
    events.Write("play", {{"pulls", json}});
  };
  service::ServerParams params{.listen = listen,
                               .clients = lab::PopulationOf(config.settings),
                               .route = route,
                               .spec_digest = config.Digest(),
                               .budget_per_client = privatizer.guarantee(),
                               .ledger = ledger.get(),
                               .insecure_seed = config.insecure_seed,
                               .join_timeout = kJoinTimeout,
                               .answer_timeout = route.sealed() ? kSealedAnswerTimeout : kAnswerTimeout,
                               .stop = stop};
  params.on_listening = [&](const std::string& address) {
    events.Write("listening", {{"address", address}});
    if (!global.quiet) fmt::print(stderr, "listening on {}\n", address);
  };
  BANDANA_ASSIGN_OR_RETURN(const service::ServerReport report, service::RunServer(params, server, on_play));
  tell_phases();
  lab::Json done = {{"role", "server"},
                    {"shares", report.shares},
                    {"reals", report.reals},
                    {"bytes_in", report.bytes_in},
                    {"bytes_out", report.bytes_out},
                    {"spent", P::kChargesAnalyzer ? ToJson(report.spent) : lab::Json(nullptr)},
                    {"seconds", report.seconds},
                    {"active", server.policy().active()}};
  done["void"] = config.insecure_seed ? lab::Json(kInsecureSeedVoids) : lab::Json(nullptr);
  events.Write("done", done);
  if (!global.quiet && !global.json) {
    fmt::print(stderr, "{}\n", Delivered(config, privatizer.claims(), ledger.get()));
  }
  return done;
}

template <class P>
absl::StatusOr<lab::Json> Participate(const RoleConfig& config, const P& privatizer,
                                      const std::stop_token& stop) {
  BANDANA_ASSIGN_OR_RETURN(const std::string server, config.Service("server"));
  BANDANA_ASSIGN_OR_RETURN(const service::Route route, MakeRoute(config, privatizer));
  std::string shuffler;
  if (route.shuffled) {
    BANDANA_ASSIGN_OR_RETURN(shuffler, config.Service("shuffler"));
  }
  BANDANA_ASSIGN_OR_RETURN(const ClientRange range, ParseClients(config, lab::PopulationOf(config.settings)));
  BANDANA_ASSIGN_OR_RETURN(const auto problem, lab::MakeProblem(config.settings, 0));
  BANDANA_ASSIGN_OR_RETURN(const auto population, lab::MakePopulation(config.settings, 0, problem));
  BANDANA_ASSIGN_OR_RETURN(
      const std::unique_ptr<Ledger> ledger,
      OpenLedger(config, privatizer.claims(), privatizer.guarantee(), Ledger::Durability::kGrouped));
  const service::AgentParams params{.server = server,
                                    .route = route,
                                    .shuffler = shuffler,
                                    .first_client = range.first,
                                    .clients = range.count,
                                    .spec_digest = config.Digest(),
                                    .budget_per_client = privatizer.guarantee(),
                                    .ledger = ledger.get(),
                                    .insecure_seed = config.insecure_seed,
                                    .connect_timeout = kConnectTimeout,
                                    .stop = stop};
  const auto make_player = [&](NodeId) { return std::make_unique<EliminationClient<P>>(privatizer); };
  BANDANA_ASSIGN_OR_RETURN(const service::AgentReport report,
                           service::RunAgent(params, make_player, *population));
  return lab::Json{{"role", "agent"},
                   {"shares", report.shares},
                   {"bytes_in", report.bytes_in},
                   {"bytes_out", report.bytes_out},
                   {"spent", P::kChargesClient ? ToJson(report.spent) : lab::Json(nullptr)},
                   {"seconds", report.seconds}};
}

template <class P>
absl::StatusOr<lab::Json> Shuffle(const RoleConfig& config, const P& privatizer, Events& events,
                                  const Global& global, const std::stop_token& stop) {
  if constexpr (!ShufflePrivatizer<P>) {
    return InvalidInput({.message = "needs no shuffler",
                         .file = config.spec.file,
                         .key = "privacy.model",
                         .value = config.settings.Text("privacy.model"),
                         .accepted = "shuffle"});
  } else {
    for (const char* key : {"service.ledger", "service.deployment_epsilon", "service.deployment_delta"}) {
      if (!config.spec.service.Has(key)) continue;
      return InvalidInput({.message = "a shuffler keeps no ledger: reports are charged at their clients",
                           .file = config.spec.file,
                           .key = key,
                           .accepted = "in the configuration of an agent or a server"});
    }
    BANDANA_ASSIGN_OR_RETURN(const std::string listen, config.Service("listen"));
    BANDANA_ASSIGN_OR_RETURN(const std::string server, config.Service("server"));
    BANDANA_ASSIGN_OR_RETURN(const service::Route route, MakeRoute(config, privatizer));
    service::ShufflerParams params{.listen = listen,
                                   .server = server,
                                   .clients = lab::PopulationOf(config.settings),
                                   .spec_digest = config.Digest(),
                                   .insecure_seed = config.insecure_seed,
                                   .connect_timeout = kConnectTimeout,
                                   .stop = stop};
    params.on_listening = [&](const std::string& address) {
      events.Write("listening", {{"address", address}});
      if (!global.quiet) fmt::print(stderr, "listening on {}\n", address);
    };
    Shuffler<P> role(privatizer);
    BANDANA_ASSIGN_OR_RETURN(
        const service::ShufflerReport report,
        route.sealed() ? service::RunBitShuffler(params, route) : service::RunShuffler(params, role));
    lab::Json done = {
        {"role", "shuffler"},          {"shares", report.shares},       {"mixes", report.mixes},
        {"bytes_in", report.bytes_in}, {"bytes_out", report.bytes_out}, {"seconds", report.seconds}};
    events.Write("done", done);
    return done;
  }
}

// FedUCB: agents are the clients, each with its own decision sets, and the server is their controller.

absl::Status CheckFederatedRole(const RoleConfig& config) {
  const std::string& name = config.settings.Text("algorithm.name");
  const auto refuse = [&](const std::string& key, const std::string& accepted) {
    return InvalidInput({.message = "not accepted by a server and its agents",
                         .file = config.spec.file,
                         .key = key,
                         .value = config.settings.Text(key),
                         .accepted = accepted});
  };
  if (name != "fed-ucb") return refuse("algorithm.name", "fed-ucb; fed-ucb-p2p runs as `bandana peer`");
  if (config.settings.Text("privacy.model") == "shuffle") return refuse("privacy.model", "none, silo");
  if (lab::HasTrigger(config.settings)) {
    return refuse(
        "algorithm.sync",
        "a public schedule: no guarantee survives synchronisation times that depend on unreleased data");
  }
  return lab::CheckPoint(config.settings);
}

absl::StatusOr<lab::Json> ServeRounds(const RoleConfig& config, Events& events, const Global& global,
                                      const std::stop_token& stop) {
  BANDANA_RETURN_IF_ERROR(CheckFederatedRole(config));
  BANDANA_ASSIGN_OR_RETURN(const std::string listen, config.Service("listen"));
  BANDANA_ASSIGN_OR_RETURN(const auto parts, lab::FederatedParts::Create(config.settings));
  BANDANA_ASSIGN_OR_RETURN(const std::vector<Claim> claims, lab::ClaimsOf(config.settings));
  const auto controller = parts->MakeController(NodeId{1});
  service::ServerParams params{.listen = listen,
                               .clients = lab::AgentsOf(config.settings),
                               .route = {},
                               .spec_digest = config.Digest(),
                               .budget_per_client = parts->budget(),
                               .insecure_seed = config.insecure_seed,
                               .join_timeout = kJoinTimeout,
                               .answer_timeout = kSealedAnswerTimeout,  // a stretch of rounds may take long
                               .stop = stop};
  params.on_listening = [&](const std::string& address) {
    events.Write("listening", {{"address", address}});
    if (!global.quiet) fmt::print(stderr, "listening on {}\n", address);
  };
  BANDANA_ASSIGN_OR_RETURN(const service::ServerReport report,
                           service::RunServer(params, *controller, [](std::span<const Pull>) {}));
  lab::Json done = {{"role", "server"},
                    {"synchronisations", controller->synchronisations()},
                    {"shares", report.shares},
                    {"reals", report.reals},
                    {"bytes_in", report.bytes_in},
                    {"bytes_out", report.bytes_out},
                    {"spent", nullptr},
                    {"seconds", report.seconds}};
  done["void"] = config.insecure_seed ? lab::Json(kInsecureSeedVoids) : lab::Json(nullptr);
  events.Write("done", done);
  if (!global.quiet && !global.json) fmt::print(stderr, "{}\n", Delivered(config, claims, nullptr));
  return done;
}

absl::StatusOr<lab::Json> PlayRounds(const RoleConfig& config, Events& events, const std::stop_token& stop) {
  BANDANA_RETURN_IF_ERROR(CheckFederatedRole(config));
  BANDANA_ASSIGN_OR_RETURN(const std::string server, config.Service("server"));
  BANDANA_ASSIGN_OR_RETURN(const ClientRange range, ParseClients(config, lab::AgentsOf(config.settings)));
  BANDANA_ASSIGN_OR_RETURN(const auto parts, lab::FederatedParts::Create(config.settings));
  BANDANA_ASSIGN_OR_RETURN(const RoundContexts contexts, lab::MakeRoundContexts(config.settings, 0));
  BANDANA_ASSIGN_OR_RETURN(const std::vector<Claim> claims, lab::ClaimsOf(config.settings));
  BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<Ledger> ledger,
                           OpenLedger(config, claims, parts->budget(), Ledger::Durability::kGrouped));
  const service::AgentParams params{.server = server,
                                    .route = {},
                                    .first_client = range.first,
                                    .clients = range.count,
                                    .spec_digest = config.Digest(),
                                    .budget_per_client = parts->budget(),
                                    .ledger = ledger.get(),
                                    .insecure_seed = config.insecure_seed,
                                    .connect_timeout = kConnectTimeout,
                                    .stop = stop};
  lab::RoundContextsWorld world(contexts, config.settings.Integer("horizon"));
  const auto make_player = [&](NodeId agent) -> std::unique_ptr<RoundPlayer<double>> {
    return std::make_unique<TellingPlayer>(parts->MakeAgent<double>(agent), agent, events);
  };
  BANDANA_ASSIGN_OR_RETURN(const service::AgentReport report,
                           service::RunRoundAgent(params, make_player, world));
  lab::Json done = {{"role", "agent"},
                    {"shares", report.shares},
                    {"bytes_in", report.bytes_in},
                    {"bytes_out", report.bytes_out},
                    {"spent", lab::IsPrivate(config.settings) ? ToJson(report.spent) : lab::Json(nullptr)},
                    {"seconds", report.seconds}};
  events.Write("done", done);
  return done;
}

absl::Status NeedsNoShuffler(const RoleConfig& config) {
  return InvalidInput({.message = "needs no shuffler",
                       .file = config.spec.file,
                       .key = "algorithm.name",
                       .value = config.settings.Text("algorithm.name"),
                       .accepted = "an elimination algorithm under privacy.model = \"shuffle\""});
}

// What every role has around it: its configuration, its events, an end by Ctrl-C, its exit code.
template <class Play, class PlayRounds, class PlayTicks>
int RunRole(const RoleArguments& arguments, const Global& global, Play play, PlayRounds play_rounds,
            PlayTicks play_ticks) {
  const absl::StatusOr<RoleConfig> config = LoadRole(arguments);
  if (!config.ok()) return Fail(config.status(), global);
  NoteKeysWithoutEffect(config->spec, global);
  Events events;
  if (const absl::Status status = events.Open(arguments.events); !status.ok()) return Fail(status, global);
  const StopOnInterrupt stop;
  if (lab::AlgorithmOf(config->settings).federated) {
    return Finish(play_rounds(*config, events, stop.token()), *config, global);
  }
  if (lab::AlgorithmOf(config->settings).arms) {
    return Finish(play_ticks(*config, events, stop.token()), *config, global);
  }
  return Finish(lab::WithPrivatizer(
                    config->settings,
                    [&](const auto& privatizer) { return play(*config, privatizer, events, stop.token()); }),
                *config, global);
}

}  // namespace

int ServerCommand(const RoleArguments& arguments, const Global& global) {
  return RunRole(
      arguments, global,
      [&](const auto& config, const auto& privatizer, auto& events, const auto& stop) {
        return Serve(config, privatizer, events, global, stop);
      },
      [&](const auto& config, auto& events, const auto& stop) {
        return ServeRounds(config, events, global, stop);
      },
      [&](const auto& config, auto& events, const auto& stop) {
        return RunNetworkRole(config, NetworkRole::kServer, events, global, stop);
      });
}

int ShufflerCommand(const RoleArguments& arguments, const Global& global) {
  return RunRole(
      arguments, global,
      [&](const auto& config, const auto& privatizer, auto& events, const auto& stop) {
        return Shuffle(config, privatizer, events, global, stop);
      },
      [](const auto& config, auto&, const auto&) -> absl::StatusOr<lab::Json> {
        BANDANA_RETURN_IF_ERROR(CheckFederatedRole(config));
        return NeedsNoShuffler(config);
      },
      [](const auto& config, auto&, const auto&) -> absl::StatusOr<lab::Json> {
        return NeedsNoShuffler(config);
      });
}

int AgentCommand(const RoleArguments& arguments, const Global& global) {
  return RunRole(
      arguments, global,
      [](const auto& config, const auto& privatizer, auto&, const auto& stop) {
        return Participate(config, privatizer, stop);
      },
      [](const auto& config, auto& events, const auto& stop) { return PlayRounds(config, events, stop); },
      [&](const auto& config, auto& events, const auto& stop) {
        return RunNetworkRole(config, NetworkRole::kAgent, events, global, stop);
      });
}

}  // namespace bandana::cli
