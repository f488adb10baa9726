#include "bandana/cli/live_role.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "bandana/bandit/worlds/live.h"
#include "bandana/cli/output.h"
#include "bandana/cli/phase_log.h"
#include "bandana/cli/role_store.h"
#include "bandana/core/status.h"
#include "bandana/lab/phase_json.h"
#include "bandana/service/live_desk.h"
#include "bandana/service/live_http.h"
#include "bandana/service/live_machine.h"
#include "bandana/service/names.h"
#include "bandana/service/process.h"
#include "fmt/format.h"

namespace bandana::cli {
namespace {

const LiveWorld& WorldOf(const RoleRun& run) { return dynamic_cast<const LiveWorld&>(*run.instance.world); }

absl::StatusOr<absl::Duration> Time(const RoleRun& run, const std::string& key, absl::Duration missing) {
  const lab::Settings& service = run.config.spec.service;
  if (!service.Has(key)) return missing;
  absl::Duration time;
  if (absl::ParseDuration(service.Text(key), &time) && time > absl::ZeroDuration()) return time;
  return run.Refuse(key, service.Text(key), AcceptedFor(key));
}

absl::StatusOr<service::LiveParams> ParamsOf(const RoleRun& run) {
  const LiveWorld& world = WorldOf(run);
  const LiveWorldParams& given = world.params();
  service::LiveParams params{.actions = world.facts().actions,
                             .low = given.reward_low,
                             .high = given.reward_high,
                             .missing = given.reward_default,
                             .learned = world.learned(),
                             .window = world.window(),
                             .fill = {},
                             .grace = {},
                             .insecure_seed = run.config.insecure_seed};
  BANDANA_ASSIGN_OR_RETURN(params.fill, Time(run, "service.fill", absl::Hours(24 * 30)));
  BANDANA_ASSIGN_OR_RETURN(params.grace, Time(run, "service.grace", absl::Minutes(2)));
  const lab::Settings& service = run.config.spec.service;
  if (service.Has("service.attempts"))
    params.attempts = static_cast<int>(service.Integer("service.attempts"));
  if (run.federation().charges_server) params.cost = run.federation().budget;
  return params;
}

std::vector<std::string> NamesOf(const LiveWorld& world) {
  std::vector<std::string> names;
  for (const LiveAction& action : world.actions()) names.push_back(action.name);
  return names;
}

// Returns the key that the application shows. The file is beside the server's other keys.
absl::StatusOr<std::string> ApplicationKey(const std::string& folder) {
  const std::string path = folder + "/application.key";
  std::ifstream file(path);
  std::string key;
  std::getline(file, key);
  key = std::string(absl::StripAsciiWhitespace(key));
  if (key.size() >= 16) return key;
  return absl::FailedPreconditionError(
      fmt::format("{}: the application's key is missing, or shorter than 16 characters", path));
}

// Returns what the run has learned. Every number is released or public.
lab::Json ResultOf(const RoleRun& run, const service::LiveStatus& status) {
  const LiveWorld& world = WorldOf(run);
  lab::Json json = {{"best", nullptr}, {"left", lab::Json::array()}, {"phases", lab::Json::array()}};
  if (status.is_known) json["best"] = world.actions()[static_cast<std::size_t>(status.best)].name;
  if (status.learned == nullptr) return json;
  for (const ArmId arm : status.learned->active) {
    json["left"].push_back(world.actions()[static_cast<std::size_t>(arm)].name);
  }
  for (const PhaseRecord& phase : status.learned->phases) json["phases"].push_back(lab::ToJson(phase));
  return json;
}

// Tells what happens, on stderr and as events.
class Teller {
 public:
  explicit Teller(const RoleRun& run) : run_(run) {}

  void Tell(const service::LiveStatus& status) {
    const std::size_t phases = status.learned == nullptr ? 0 : status.learned->phases.size();
    for (; told_ < phases; ++told_) LogPhase(run_.log, status.learned->phases[told_]);
    if (std::exchange(epoch_, status.epoch) != status.epoch) {
      run_.log.Write(RoleLog::Level::kInfo, "waits", {{"epoch", status.epoch}, {"people", status.asked}},
                     fmt::format("phase {} waits for {} people", status.epoch, status.asked));
    }
    if (!std::exchange(stalled_, status.stalled) && status.stalled) {
      run_.log.Write(RoleLog::Level::kWarn, "stalled",
                     {{"epoch", status.epoch}, {"answered", status.answered}, {"people", status.asked}},
                     fmt::format("stalled: {} of {} people have answered in phase {}; it waits on",
                                 status.answered, status.asked, status.epoch));
    }
  }

 private:
  const RoleRun& run_;
  std::size_t told_ = 0;
  Epoch epoch_ = 0;
  bool stalled_ = false;
};

absl::Status Check(const RoleRun& run) {
  if (run.kind != RoleKind::kServer) {
    return run.Refuse("environment.kind", "live",
                      "a world whose people an agent simulates; people of a live world come to the server");
  }
  // Somebody who has to come again and again may stay away because of the rewards. Who is in a release would
  // then tell something that no noise hides.
  if (!run.instance.experiment.family->one_client_per_round) {
    return run.Refuse("algorithm.name", run.algorithm(),
                      "private-elimination, pe: a person of a live world is shown one action that counts");
  }
  const TrustModel model = run.instance.experiment.privacy.model;
  if (model == TrustModel::kCentral || model == TrustModel::kNone) return absl::OkStatus();
  return run.Refuse("privacy.model", NameOf(model), "central, none: over HTTP the server sees rewards");
}

}  // namespace

bool IsLive(const RoleRun& run) {
  return dynamic_cast<const LiveWorld*>(run.instance.world.get()) != nullptr;
}

absl::StatusOr<lab::Json> ServeLive(const RoleRun& run) {
  BANDANA_RETURN_IF_ERROR(Check(run));
  const Federation& federation = run.federation();
  const SlotRoles& roles = std::get<SlotRoles>(federation.roles);
  const LiveWorld& world = WorldOf(run);
  BANDANA_ASSIGN_OR_RETURN(const service::LiveParams params, ParamsOf(run));
  BANDANA_ASSIGN_OR_RETURN(const std::string listen, run.config.Service("http"));
  BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<RoleStore> store,
                           RoleStore::Open(run, service::kServerName, federation.budget));
  const bool secure = store->deployed().keys != nullptr;
  const lab::Settings& service = run.config.spec.service;
  const std::string folder = (std::filesystem::path(run.config.spec.file).parent_path() /
                              (service.Has("service.keys") ? service.Text("service.keys") : "keys"))
                                 .string();
  std::string key;
  if (secure) {
    BANDANA_ASSIGN_OR_RETURN(key, ApplicationKey(folder));
  }

  service::LiveDesk desk;
  Teller teller(run);
  service::LiveStatus last;
  const std::unique_ptr<Node> role = roles.server();
  service::LiveMachine machine(
      params, *role, roles, federation.topology,
      [&](std::uint64_t request, service::LiveReply reply) { desk.Answer(request, std::move(reply)); },
      [&](const service::LiveStatus& status) {
        teller.Tell(status);
        last = status;
        desk.SetStatus(status);
      });
  lab::Json deployment = {{"name", run.config.spec.name},
                          {"algorithm", run.algorithm()},
                          {"model", NameOf(run.instance.experiment.privacy.model)},
                          {"actions", NamesOf(world)},
                          {"reward_low", params.low},
                          {"reward_high", params.high},
                          {"reward_default", params.missing},
                          {"reward_window", absl::FormatDuration(params.window)},
                          {"claims", lab::Json::array()},
                          {"void", VoidReason(run.config, federation)}};
  for (const Claim& claim : federation.claims) deployment["claims"].push_back(ToText(claim));
  BANDANA_ASSIGN_OR_RETURN(
      const std::unique_ptr<service::LiveHttp> http,
      service::LiveHttp::Open({.listen = listen,
                               .certificate = secure ? folder + "/server.pem" : "",
                               .private_key = secure ? folder + "/server.key" : "",
                               .key = key,
                               .names = NamesOf(world),
                               .deployment = [text = deployment.dump()] { return text; }},
                              desk));
  run.TellListening(http->address());

  service::ProcessParams process{.deployed = store->deployed(),
                                 .budget = federation.budget,
                                 .local = desk.InputsFor(machine),
                                 .stop = run.stop};
  process.runtime.self = service::kServerName;
  process.runtime.digest = run.config.Digest();
  const absl::StatusOr<service::ProcessReport> report = service::RunProcess(std::move(process), machine);
  BANDANA_RETURN_IF_ERROR(report.status());
  const lab::Json result = ResultOf(run, last);
  const std::string file =
      (std::filesystem::path(run.config.spec.file).parent_path() / "result.json").string();
  std::ofstream(file) << result.dump(1) << "\n";
  if (last.is_known) {
    const std::string& best = world.actions()[static_cast<std::size_t>(last.best)].name;
    run.log.Write(RoleLog::Level::kInfo, "best", {{"action", best}}, "the best action is " + best);
  }
  return run.Done({{"best", result["best"]}, {"active", result["left"]}, {"seconds", report->seconds}},
                  store->head());
}

}  // namespace bandana::cli
