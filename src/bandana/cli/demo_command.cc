#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <limits>
#include <optional>

#include "bandana/bandit/worlds/linear_population.h"
#include "bandana/cli/cell_configurations.h"
#include "bandana/cli/commands.h"
#include "bandana/cli/interrupt.h"
#include "bandana/cli/process.h"
#include "bandana/cli/role.h"
#include "bandana/config.h"
#include "bandana/core/status.h"
#include "bandana/lab/experiment.h"
#include "bandana/lab/phase_json.h"
#include "bandana/lab/report.h"
#include "bandana/lab/results.h"
#include "bandana/service/key_files.h"
#include "bandana/service/names.h"
#include "bandana/service/roster.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace bandana::cli {
namespace {

constexpr Count kClients = 6000;
constexpr std::size_t kPhasesBeforeTheKill = 3;
constexpr std::uint64_t kDefaultSeed = 5;  // for the simulated users; noise uses it only with --insecure-seed
constexpr std::uint64_t kMostSeed = std::numeric_limits<std::int64_t>::max();  // the largest integer in TOML

// Makes a new folder for the files of one demo.
absl::StatusOr<std::string> MakeFolder(const std::string& wanted) {
  std::string folder = wanted.empty() ? "results/demo" : wanted;
  if (wanted.empty()) {
    for (int i = 2; std::filesystem::exists(folder); ++i) folder = fmt::format("results/demo-{}", i);
  }
  std::error_code error;
  if (std::filesystem::exists(folder, error) || !std::filesystem::create_directories(folder, error)) {
    return InvalidInput({.message = error ? error.message() : "exists already",
                         .file = folder,
                         .key = "--out",
                         .accepted = "a new folder that can be created"});
  }
  return folder;
}

absl::Status CheckArguments(const DemoArguments& arguments) {
  if (!(arguments.epsilon > 0 && std::isfinite(arguments.epsilon))) {
    return InvalidOption("--epsilon", arguments.epsilon, "a finite number > 0");
  }
  if (arguments.insecure_seed.has_value() && *arguments.insecure_seed > kMostSeed) {
    return InvalidOption("--insecure-seed", fmt::format("{}", *arguments.insecure_seed),
                         fmt::format("a whole number from 0 to {}", kMostSeed));
  }
  return absl::OkStatus();
}

bool IsShuffled(const DemoArguments& arguments) { return arguments.model == "shuffle"; }

NodeId FirstClient(int agent, const DemoArguments& arguments) {
  return NodeId{static_cast<std::uint32_t>(1 + kClients * agent / arguments.agents)};
}

absl::Status WriteConfig(const std::string& folder, const DemoArguments& arguments) {
  std::string actions = "# the features of the cell configurations, one configuration per line\n";
  for (const CellConfiguration& configuration : CellConfigurations()) {
    actions += fmt::format("{}\n", fmt::join(configuration.features, ","));
  }
  BANDANA_RETURN_IF_ERROR(lab::WriteFile(folder + "/actions.csv", actions));
  const std::string transport =
      IsShuffled(arguments) ? fmt::format("transport = \"{}\"\n", arguments.transport) : "";
  return lab::WriteFile(folder + "/demo.toml",
                        fmt::format(R"(name = "demo: the best cell configuration"
horizon = 50_000
seed = {}

[environment]
contexts = "file"
file = "actions.csv"
client_sd = 0.1
reward = "gaussian"
population = {}

[algorithm]
name = "dp-dpe"

[privacy]
model = "{}"
epsilon = {}
delta = 1e-6
sampler = "exact"
{}
[service]
listen = "127.0.0.1:0"
keys = "keys"
)",
                                    arguments.insecure_seed.value_or(kDefaultSeed), kClients, arguments.model,
                                    arguments.epsilon, transport));
}

// Makes a certificate for each process.
absl::Status MakeKeys(const std::string& folder, const DemoArguments& arguments) {
  const std::string keys = folder + "/keys";
  BANDANA_RETURN_IF_ERROR(service::MakeDeployment(keys).status());
  std::vector<std::string> parties = {service::kServerName};
  if (IsShuffled(arguments)) parties.emplace_back(service::kShufflerName);
  for (int i = 0; i < arguments.agents; ++i) {
    parties.push_back(service::Roster::LinkOf(FirstClient(i, arguments)));
  }
  for (const std::string& party : parties) BANDANA_RETURN_IF_ERROR(service::Issue(keys, party).status());
  return absl::OkStatus();
}

// The data of the server's events.
struct Watched {
  std::vector<PhaseRecord> phases;
  std::vector<std::vector<Pull>> plays;
  lab::Json done;
  double shuffler_bytes = 0;  // the bytes between agents and shuffler

  double bytes() const {
    return done["bytes_in"].get<double>() + done["bytes_out"].get<double>() + shuffler_bytes;
  }
};

class Demo {
 public:
  Demo(const DemoArguments& arguments, std::string program, const Global& global)
      : arguments_(arguments), program_(std::move(program)), global_(global) {}

  absl::StatusOr<lab::Json> Run() {
    InstallInterrupt();
    BANDANA_RETURN_IF_ERROR(CheckArguments(arguments_));
    BANDANA_ASSIGN_OR_RETURN(folder_, MakeFolder(arguments_.out));
    BANDANA_RETURN_IF_ERROR(WriteConfig(folder_, arguments_));
    BANDANA_RETURN_IF_ERROR(MakeKeys(folder_, arguments_));
    BANDANA_ASSIGN_OR_RETURN(config_, LoadRole({.config = folder_ + "/demo.toml",
                                                .insecure_seed = arguments_.insecure_seed.has_value()}));
    Say(
        fmt::format("{} cell configurations, {} clients in {} agent processes{}, model {}{}\n"
                    "Every process has a certificate and a store of its own.\n\n",
                    CellConfigurations().size(), kClients, arguments_.agents,
                    IsShuffled(arguments_) ? " and a shuffler" : "", arguments_.model,
                    arguments_.model == "none" ? "" : fmt::format(", epsilon {}", arguments_.epsilon)));
    const auto begin = std::chrono::steady_clock::now();
    BANDANA_RETURN_IF_ERROR(Watch());
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (arguments_.insecure_seed.has_value()) BANDANA_RETURN_IF_ERROR(CompareWithSimulator());
    return WriteReport();
  }

  void PrintFacts(const lab::Json& result) const {
    std::string text = "\n";
    for (const lab::Json& fact : result["facts"]) {
      text += fmt::format("{:<28} {}\n", fact["name"].get<std::string>(), fact["value"].get<std::string>());
    }
    Say(text);
  }

 private:
  void Say(const std::string& text) const {
    if (global_.json) return;
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }

  std::vector<std::string> RoleCommand(const char* role) const {
    std::vector<std::string> command = {program_, role, folder_ + "/demo.toml", "--quiet"};
    if (arguments_.insecure_seed.has_value()) command.push_back("--insecure-seed");
    return command;
  }

  absl::StatusOr<ChildProcess> StartServer() const {
    std::vector<std::string> command = RoleCommand("server");
    command.insert(command.end(), {"--events", "-"});
    if (!address_.empty()) {  // where the others look for it
      command.insert(command.end(), {"--set", "service.listen=\"" + address_ + "\""});
    }
    return ChildProcess::Start(command, ChildProcess::Output::kPipe);
  }

  absl::Status Watch() {
    std::optional<ChildProcess> server;
    const auto start = [&]() -> absl::Status {
      BANDANA_ASSIGN_OR_RETURN(ChildProcess started, StartServer());
      server.reset();
      server.emplace(std::move(started));
      return absl::OkStatus();
    };
    BANDANA_RETURN_IF_ERROR(start());
    std::vector<ChildProcess> agents;  // if there is a shuffler, it is the first element
    Say(fmt::format("{:>5}  {:>8}  {:>8}  {:>15}  {:>12}  {:>9}\n", "phase", "rounds", "clients",
                    "configurations", "noise sd", "width"));
    const auto all_is_well = [&] {
      const bool lost = std::any_of(agents.begin(), agents.end(),
                                    [](ChildProcess& agent) { return agent.Ended().value_or(0) != 0; });
      return !lost && !Interrupted();
    };
    for (std::string line; server->ReadLine(line, all_is_well) && !Interrupted();) {
      const lab::Json event = lab::Json::parse(line, nullptr, false);
      if (!event.is_object())
        return absl::InternalError("the server wrote a line that is not an event: " + line);
      BANDANA_RETURN_IF_ERROR(OnEvent(event, agents));
      if (was_killed_ || watched_.phases.size() < kPhasesBeforeTheKill) continue;
      was_killed_ = true;
      server->Kill();
      Say("       the server is killed here; it goes on from its store\n");
      watched_ = {};  // the new process tells everything again
      BANDANA_RETURN_IF_ERROR(start());
    }
    if (Interrupted()) {
      for (const ChildProcess& agent : agents)
        agent.Stop();  // all at once, so that none reports a lost other
      server->Stop();
      return absl::CancelledError("interrupted");
    }
    if (watched_.done.is_null()) {
      for (ChildProcess& agent : agents) {
        if (const std::optional<int> code = agent.Ended(); code.value_or(0) != 0) {
          const bool shuffler = IsShuffled(arguments_) && &agent == &agents.front();
          return absl::UnavailableError(
              fmt::format("{} ended with exit code {}", shuffler ? "the shuffler" : "an agent", *code));
        }
      }
      return absl::UnavailableError(fmt::format("the server ended with exit code {}", server->Wait()));
    }
    server->Wait();
    if (IsShuffled(arguments_)) BANDANA_RETURN_IF_ERROR(ReadShuffler(agents.front()));
    for (ChildProcess& agent : agents) agent.Wait();
    return absl::OkStatus();
  }

  absl::Status OnEvent(const lab::Json& event, std::vector<ChildProcess>& agents) {
    const std::string kind = event["event"].get<std::string>();
    if (kind == "listening") {
      const bool is_first = address_.empty();
      const std::string address = address_ = event["address"].get<std::string>();
      if (!is_first) return absl::OkStatus();
      std::string shuffler;
      if (IsShuffled(arguments_)) {
        BANDANA_ASSIGN_OR_RETURN(shuffler, StartShuffler(address, agents));
      }
      return StartAgents(address, shuffler, agents);
    }
    if (kind == "play") {
      std::vector<Pull>& pulls = watched_.plays.emplace_back();
      for (const lab::Json& pull : event["pulls"])
        pulls.push_back({pull[0].get<ArmId>(), pull[1].get<Count>()});
    }
    if (kind == "done") watched_.done = event;
    if (kind == "phase") {
      BANDANA_ASSIGN_OR_RETURN(PhaseRecord phase, lab::PhaseFromJson(event));
      if (phase.epoch > shown_) {
        Say(fmt::format("{:>5}  {:>8}  {:>8}  {:>15}  {:>12.4g}  {:>9.4g}\n", phase.epoch, phase.rounds,
                        phase.clients, fmt::format("{} left", phase.active.size()), phase.privacy_stddev,
                        phase.width));
        shown_ = phase.epoch;
      }
      watched_.phases.push_back(std::move(phase));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> StartShuffler(const std::string& server, std::vector<ChildProcess>& children) {
    std::vector<std::string> command = RoleCommand("shuffler");
    command.insert(command.end(), {"--events", "-", "--set", "service.server=\"" + server + "\""});
    BANDANA_ASSIGN_OR_RETURN(ChildProcess shuffler,
                             ChildProcess::Start(command, ChildProcess::Output::kPipe));
    children.push_back(std::move(shuffler));
    std::string line;
    if (children.back().ReadLine(line, [] { return !Interrupted(); })) {
      const lab::Json event = lab::Json::parse(line, nullptr, false);
      if (event.is_object() && event.value("event", "") == "listening") {
        return event["address"].get<std::string>();
      }
    }
    if (Interrupted()) return absl::CancelledError("interrupted");
    return absl::UnavailableError("the shuffler did not start");
  }

  absl::Status ReadShuffler(ChildProcess& shuffler) {
    for (std::string line; shuffler.ReadLine(line, [] { return !Interrupted(); });) {
      const lab::Json event = lab::Json::parse(line, nullptr, false);
      if (!event.is_object() || event.value("event", "") != "done") continue;
      watched_.shuffler_bytes = event["bytes_in"].get<double>() + event["bytes_out"].get<double>();
      return absl::OkStatus();
    }
    if (Interrupted()) return absl::CancelledError("interrupted");
    return absl::UnavailableError("the shuffler ended without a report");
  }

  absl::Status StartAgents(const std::string& address, const std::string& shuffler,
                           std::vector<ChildProcess>& agents) {
    for (int i = 0; i < arguments_.agents; ++i) {
      const Count first = FirstClient(i, arguments_).value;
      const Count last = kClients * (i + 1) / arguments_.agents;
      std::vector<std::string> command = RoleCommand("agent");
      command.insert(command.end(), {"--set", "service.server=\"" + address + "\"", "--set",
                                     fmt::format("service.clients=\"{}-{}\"", first, last)});
      if (!shuffler.empty()) {
        command.insert(command.end(), {"--set", "service.shuffler=\"" + shuffler + "\""});
      }
      BANDANA_ASSIGN_OR_RETURN(ChildProcess agent,
                               ChildProcess::Start(command, ChildProcess::Output::kDiscard));
      agents.push_back(std::move(agent));
    }
    return absl::OkStatus();
  }

  // Fails unless the simulator makes the same decisions with the same seed.
  absl::Status CompareWithSimulator() {
    BANDANA_ASSIGN_OR_RETURN(const Outcome simulated, lab::RunReplicate(config_.settings, 0, Interrupted()));
    bool same = simulated.phases.size() == watched_.phases.size();
    for (std::size_t i = 0; same && i < simulated.phases.size(); ++i) {
      same = lab::ToJson(simulated.phases[i]) == lab::ToJson(watched_.phases[i]);
    }
    if (!same) return absl::InternalError("the simulator made different decisions with the same seed");
    replayed_ = true;
    return absl::OkStatus();
  }

  absl::StatusOr<lab::Json> WriteReport() {
    BANDANA_ASSIGN_OR_RETURN(const lab::Instance instance, lab::MakeInstance(config_.settings, 0));
    const auto& world = dynamic_cast<const LinearPopulation&>(*instance.world);
    const auto& roles = std::get<SlotRoles>(instance.federation.roles);
    Recorder recorder(world, lab::Checkpoints(config_.settings));
    for (std::size_t i = 0; i < watched_.plays.size(); ++i) {
      recorder.Play(watched_.plays[i]);
      if (i >= watched_.phases.size()) continue;
      const PhaseRecord& phase = watched_.phases[i];
      const MeanQuery query{std::vector<Interval>(phase.pulls.size()), phase.clients};
      BANDANA_ASSIGN_OR_RETURN(const Count bits, roles.report_bits(query));
      for (Count client = 0; client < phase.clients; ++client) {
        recorder.Report(phase.epoch, static_cast<Count>(phase.pulls.size()), bits);
      }
    }
    recorder.Finish();
    const std::string reason = arguments_.insecure_seed.has_value() ? kInsecureSeedVoids : "";
    const lab::Json privacy = lab::PrivacyStatement(instance, reason);
    const lab::Json facts = FactsOf(world.problem(), recorder.now(), privacy);
    const lab::Json summary = Summary(recorder, privacy);
    lab::Json phases = lab::Json::array();
    for (const PhaseRecord& phase : watched_.phases) phases.push_back(lab::PhaseForReport(phase));
    const std::string path = folder_ + "/report.html";
    BANDANA_RETURN_IF_ERROR(lab::WriteFile(folder_ + "/summary.json", lab::Dump(summary)));
    BANDANA_RETURN_IF_ERROR(lab::WriteFile(path, lab::RenderReport({{"summary", summary},
                                                                    {"spec", config_.spec.toml},
                                                                    {"command", Command()},
                                                                    {"swept", lab::Json::array()},
                                                                    {"phases", phases},
                                                                    {"facts", facts}})));
    return lab::Json{{"facts", facts}, {"summary", summary}, {"report", path}};
  }

  std::string Command() const {
    const DemoArguments defaults;
    std::string command = "bandana demo";
    if (arguments_.model != defaults.model) command += " --model " + arguments_.model;
    if (arguments_.transport != defaults.transport) command += " --transport " + arguments_.transport;
    if (arguments_.epsilon != defaults.epsilon) command += fmt::format(" --epsilon {}", arguments_.epsilon);
    if (arguments_.agents != defaults.agents) command += fmt::format(" --agents {}", arguments_.agents);
    if (arguments_.insecure_seed.has_value())
      command += fmt::format(" --insecure-seed {}", *arguments_.insecure_seed);
    return command;
  }

  // Returns the active action that is best by the last estimate.
  ArmId Found(const LinearProblem& problem) const {
    const PhaseRecord& last = watched_.phases.back();
    ArmId found = last.active.front();
    for (const ArmId arm : last.active) {
      if (Dot(problem.actions(), arm, last.estimate) > Dot(problem.actions(), found, last.estimate))
        found = arm;
    }
    return found;
  }

  lab::Json FactsOf(const LinearProblem& problem, const Checkpoint& end, const lab::Json& privacy) const {
    const std::vector<CellConfiguration> configurations = CellConfigurations();
    const ArmId found = Found(problem);
    const double blind = problem.means().maxCoeff() - problem.means().mean();
    const double bytes = watched_.bytes();
    lab::Json facts = lab::Json::array();
    const auto add = [&](const char* name, const std::string& value) {
      facts.push_back({{"name", name}, {"value", value}});
    };
    add("best configuration found", configurations[static_cast<std::size_t>(found)].Describe());
    add("is it the best?", found == problem.best()
                               ? "yes"
                               : fmt::format("no: its mean is {:.4f} below the best", problem.Gap(found)));
    add("regret", fmt::format("{} in {} rounds; blind choice costs {}", Figure(end.regret), end.t,
                              Figure(blind * static_cast<double>(end.t))));
    if (privacy["delivered"].empty()) {
      add("epsilon spent", "no privacy is claimed");
    } else {
      const lab::Json& weakest = privacy["weakest"];
      add("epsilon spent", fmt::format("{} (delta {}) by each client that took part, once{}",
                                       RoundedUp(weakest["epsilon"].get<double>(), 4),
                                       RoundedUp(weakest["delta"].get<double>(), 3),
                                       privacy["void"].is_null() ? "" : "; VOID, see below"));
    }
    AddViews(privacy, add);
    if (!privacy["void"].is_null()) add("claim void", privacy["void"].get<std::string>());
    add("clients that reported", fmt::format("{} of {}", end.clients, kClients));
    add("bytes per client",
        fmt::format("{:.0f}, both ways together", bytes / static_cast<double>(end.clients)));
    if (replayed_) add("replayed in the simulator", "the same decisions, bit for bit");
    add("time", fmt::format("{:.1f} s", seconds_));
    return facts;
  }

  // Adds what each party of the shuffle model sees of a client.
  template <class Add>
  void AddViews(const lab::Json& privacy, Add add) const {
    if (!IsShuffled(arguments_)) return;
    const lab::Json& claim = privacy["delivered"][0];
    add("the server learns", fmt::format("the totals of each phase: epsilon {}, delta {}; not who sent what",
                                         RoundedUp(claim["epsilon"].get<double>(), 4),
                                         RoundedUp(claim["delta"].get<double>(), 3)));
    add("the shuffler learns",
        arguments_.transport == "bits"
            ? "who reported, and the public queries, but no report: every bit is encrypted to the server"
            : "each client's noisy counts, which are nearly raw: it is trusted with them; with --transport "
              "bits it sees none");
    add("an agent learns",
        "the public plans, but no report of another agent's clients; it knows the noise of its own clients "
        "and "
        "can subtract it, so the epsilon above does not hold against an agent with many of them");
  }

  lab::Json Summary(const Recorder& recorder, const lab::Json& privacy) const {
    lab::Json metrics = lab::Json::object();
    const auto add = [&](const std::string& name, double value) {
      metrics[name] = {{"mean", value}, {"sd", nullptr}, {"se", nullptr}, {"n", 1}, {"values", {value}}};
    };
    for (const std::string& name : lab::CommonMetricNames()) add(name, lab::MetricOf(recorder.now(), name));
    add("bytes_on_wire", watched_.bytes());
    lab::Json t = lab::Json::array();
    lab::Json regret = lab::Json::array();
    lab::Json unknown = lab::Json::array();  // the spread of one run
    for (const Checkpoint& checkpoint : recorder.checkpoints()) {
      t.push_back(checkpoint.t);
      regret.push_back(checkpoint.regret);
      unknown.push_back(nullptr);
    }
    const lab::Json curve = {
        {"t", t},
        {"regret",
         {{"mean", regret}, {"sd", unknown}, {"median", regret}, {"q10", regret}, {"q90", regret}}}};
    return {{"name", config_.spec.name},
            {"version", Version()},
            {"spec_sha256", config_.spec.sha256},
            {"wall_s", seconds_},
            {"cpu_s", nullptr},
            {"points",
             {{{"point", lab::Json::object()},
               {"label", config_.spec.points.front().label},
               {"algorithm", config_.settings.Text("algorithm.name")},
               {"replicates", 1},
               {"metrics", metrics},
               {"curve", curve},
               {"privacy", privacy}}}}};
  }

  const DemoArguments& arguments_;
  std::string program_;
  const Global& global_;
  std::string folder_;
  RoleConfig config_;
  Watched watched_;
  std::string address_;      // of the server
  bool was_killed_ = false;  // the server
  Epoch shown_ = 0;          // the last phase that was printed
  bool replayed_ = false;
  double seconds_ = 0;
};

}  // namespace

int DemoCommand(const DemoArguments& arguments, const std::string& program, const Global& global) {
  Demo demo(arguments, program, global);
  const absl::StatusOr<lab::Json> result = demo.Run();
  if (!result.ok()) return Fail(result.status(), global);
  if (global.json) {
    fmt::print("{}", lab::Dump(*result));
  } else {
    demo.PrintFacts(*result);
    fmt::print("{:<28} {}\n", "report", (*result)["report"].get<std::string>());
  }
  return 0;
}

}  // namespace bandana::cli
