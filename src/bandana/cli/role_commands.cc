#include <cstdio>
#include <fstream>
#include <iostream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "bandana/cli/commands.h"
#include "bandana/cli/interrupt.h"
#include "bandana/cli/role.h"
#include "bandana/core/status.h"
#include "bandana/federation/shuffler.h"
#include "bandana/lab/algorithms.h"
#include "bandana/lab/experiment.h"
#include "bandana/lab/phase_json.h"
#include "bandana/lab/vocabulary.h"
#include "bandana/privacy/ledger/ledger.h"
#include "bandana/service/agent.h"
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

// JSON lines as the run goes.
class Events {
 public:
  absl::Status Open(const std::string& path) {
    if (path.empty()) return absl::OkStatus();
    if (path == "-") {
      out_ = &std::cout;
      return absl::OkStatus();
    }
    file_.open(path, std::ios::trunc);
    out_ = &file_;
    if (file_) return absl::OkStatus();
    return InvalidInput({.message = "cannot be written",
                         .file = path,
                         .key = "--events",
                         .accepted = "a file that can be written, or - for stdout"});
  }

  void Write(const std::string& event, const lab::Json& fields) {
    if (out_ == nullptr) return;
    lab::Json line = {{"event", event}};
    line.update(fields);
    *out_ << line.dump() << "\n" << std::flush;
  }

 private:
  std::ofstream file_;
  std::ostream* out_ = nullptr;
};

struct ClientRange {
  NodeId first;
  Count count = 0;
};

// "FIRST-LAST" within 1 .. population.
absl::StatusOr<ClientRange> ParseClients(const RoleConfig& config) {
  BANDANA_ASSIGN_OR_RETURN(const std::string text, config.Service("clients"));
  const Count population = lab::PopulationOf(config.settings);
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

lab::Json ToJson(const DpGuarantee& guarantee) {
  return {{"epsilon", guarantee.epsilon}, {"delta", guarantee.delta}};
}

// Nothing if the configuration names none.
absl::StatusOr<std::unique_ptr<Ledger>> OpenLedger(const RoleConfig& config, const std::vector<Claim>& claims,
                                                   const DpGuarantee& budget, Ledger::Durability durability) {
  const lab::Settings& service = config.spec.service;
  const bool has_epsilon = service.Has("service.deployment_epsilon");
  const bool has_delta = service.Has("service.deployment_delta");
  const auto missing = [&](const std::string& key, std::string why) {
    return InvalidInput({.message = std::move(why),
                         .file = config.spec.file,
                         .key = key,
                         .accepted = lab::FindOption(key)->accepted});
  };
  if (has_epsilon != has_delta) {
    return missing(has_epsilon ? "service.deployment_delta" : "service.deployment_epsilon",
                   "missing: deployment_epsilon and deployment_delta are one budget");
  }
  if (!service.Has("service.ledger")) {
    if (has_epsilon) return missing("service.ledger", "missing: a deployment's budget needs a ledger");
    return nullptr;
  }
  const std::string path = service.Text("service.ledger");
  if (path.empty()) return missing("service.ledger", "empty");
  const Claim claim =
      claims.empty() ? Claim{.unit = "nobody", .neighbours = "none", .proof = "none"} : claims.front();
  LedgerHeader header{.deployment = config.spec.name,
                      .configuration = config.Digest(),
                      .unit = claim.unit,
                      .neighbours = claim.neighbours,
                      .proof = claim.proof,
                      .limits = {.per_unit = {budget.epsilon, budget.delta}}};
  if (has_epsilon) {
    header.limits.deployment =
        Loss{service.Number("service.deployment_epsilon"), service.Number("service.deployment_delta")};
  }
  absl::StatusOr<std::unique_ptr<Ledger>> opened = Ledger::Open(path, header, durability);
  if (const auto error = InputErrorOf(opened.status());
      absl::IsInvalidArgument(opened.status()) && error && error->file == path) {
    return InvalidInput({.message = error->message,
                         .file = config.spec.file,
                         .key = "service.ledger",
                         .value = path,
                         .accepted = "a file that can be written, in a folder that exists"});
  }
  BANDANA_ASSIGN_OR_RETURN(std::unique_ptr<Ledger> ledger, std::move(opened));
  if (ledger->torn_bytes() > 0) {
    fmt::print(stderr,
               "bandana: {}: dropped {} bytes of a charge that was being written when its writer ended; "
               "nothing of it "
               "had left\n",
               path, ledger->torn_bytes());
  }
  return ledger;
}

// A server's last word, in one line.
std::string Delivered(const RoleConfig& config, const std::vector<Claim>& claims, const Ledger* ledger) {
  std::vector<std::string> parts;
  for (const Claim& claim : claims) {
    parts.push_back(fmt::format("({:.6g}, {:.3g})-DP against {}", claim.guarantee.epsilon,
                                claim.guarantee.delta, claim.adversary));
  }
  std::string text = claims.empty() ? "done: no privacy is claimed"
                                    : fmt::format("delivered: {}", absl::StrJoin(parts, "; "));
  if (config.insecure_seed && !claims.empty()) text += fmt::format("; VOID: {}", kInsecureSeedVoids);
  if (ledger != nullptr) text += fmt::format("; ledger head {} {}", ledger->head().seq, ledger->head().hash);
  return text;
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
  BANDANA_ASSIGN_OR_RETURN(const ClientRange range, ParseClients(config));
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

int Finish(const absl::StatusOr<lab::Json>& done, const RoleConfig& config, const Global& global) {
  if (!done.ok() && Interrupted() && global.quiet) return 130;  // whatever else ended on the way
  if (!done.ok()) return Fail(WithFile(done.status(), config.spec.file), global);
  if (global.json) fmt::print("{}\n", done->dump(1));
  return 0;
}

// What every role has around it: its configuration, its events, an end by Ctrl-C, its exit code.
template <class Play>
int RunRole(const RoleArguments& arguments, const Global& global, Play play) {
  const absl::StatusOr<RoleConfig> config = LoadRole(arguments);
  if (!config.ok()) return Fail(config.status(), global);
  NoteKeysWithoutEffect(config->spec, global);
  Events events;
  if (const absl::Status status = events.Open(arguments.events); !status.ok()) return Fail(status, global);
  const StopOnInterrupt stop;
  return Finish(lab::WithPrivatizer(
                    config->settings,
                    [&](const auto& privatizer) { return play(*config, privatizer, events, stop.token()); }),
                *config, global);
}

}  // namespace

int ServerCommand(const RoleArguments& arguments, const Global& global) {
  return RunRole(arguments, global,
                 [&](const auto& config, const auto& privatizer, auto& events, const auto& stop) {
                   return Serve(config, privatizer, events, global, stop);
                 });
}

int ShufflerCommand(const RoleArguments& arguments, const Global& global) {
  return RunRole(arguments, global,
                 [&](const auto& config, const auto& privatizer, auto& events, const auto& stop) {
                   return Shuffle(config, privatizer, events, global, stop);
                 });
}

int AgentCommand(const RoleArguments& arguments, const Global& global) {
  return RunRole(arguments, global, [](const auto& config, const auto& privatizer, auto&, const auto& stop) {
    return Participate(config, privatizer, stop);
  });
}

}  // namespace bandana::cli
