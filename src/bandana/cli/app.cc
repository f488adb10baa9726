#include "bandana/cli/app.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "CLI/CLI.hpp"
#include "bandana/cli/commands.h"
#include "bandana/core/status.h"
#include "bandana/lab/version.h"
#include "bandana/lab/vocabulary.h"
#include "fmt/format.h"

namespace bandana::cli {
namespace {

void AddSet(CLI::App& command, std::vector<std::string>& set) {
  command.add_option("--set", set, "key=value, over the file; may be repeated")->expected(1)->take_all();
}

// Unlike an option that is bound to the optional itself, an empty value is not taken for none.
template <class T>
CLI::Option* AddOptional(CLI::App& command, const std::string& flag, std::optional<T>& value,
                         const std::string& help) {
  return command.add_option_function<T>(flag, [&value](const T& given) { value = given; }, help);
}

// CLI11 wraps what is negative or too large.
const CLI::Validator& IsSeed() {
  static const auto& validator = *new CLI::Validator(
      [](std::string& text) {
        std::uint64_t seed = 0;
        const char* end = text.data() + text.size();
        const auto [parsed, error] = std::from_chars(text.data(), end, seed);
        if (error == std::errc() && parsed == end) return std::string();
        return fmt::format("'{}' is not a whole number from 0 to 2^64 - 1", text);
      },
      "");
  return validator;
}

CLI::App* AddAudit(CLI::App& app, AuditArguments& audit) {
  CLI::App* command = app.add_subcommand(
      "audit", "attack a mechanism or a whole algorithm; empirical epsilon with confidence");
  command->add_option("target", audit.target, "what is attacked: see --list");
  command->add_flag("--all", audit.all, "every target there is");
  command->add_flag("--list", audit.list, "the targets");
  command->add_option("--model", audit.model, "whom the clients trust, for an algorithm (default: central)");
  AddOptional(*command, "--epsilon", audit.epsilon, "the setting attacked (default: the target's)");
  AddOptional(*command, "--delta", audit.delta, "the setting attacked (default: the target's)");
  AddOptional(*command, "--draws", audit.draws, "under each neighbour (default: the target's)");
  command->add_option("--confidence", audit.confidence, "of all verdicts together (default: 0.999999)");
  command->add_option("--seed", audit.seed, "of the noise: the same findings every time (default: 1)")
      ->check(IsSeed());
  command->add_flag("--secure", audit.secure, "noise from the operating system's entropy, as in service");
  command->add_option("--threads", audit.threads, "default: one a core; findings do not depend on it")
      ->check(CLI::Range(1, 4096));
  return command;
}

CLI::App* AddRole(CLI::App& app, const std::string& name, const std::string& help, RoleArguments& arguments) {
  CLI::App* command = app.add_subcommand(name, help);
  command->add_option("config", arguments.config, "the experiment and a [service] table, in TOML")
      ->required();
  AddSet(*command, arguments.set);
  command->add_flag("--insecure-seed", arguments.insecure_seed,
                    "draw noise from the spec's seed: replayable, and so without any privacy");
  return command;
}

CLI::App* AddReproduce(CLI::App& app, ReproduceArguments& reproduce) {
  CLI::App* command = app.add_subcommand(
      "reproduce", "a paper's figure or table, with verdicts on what the paper claims of it");
  command->add_option("exhibits", reproduce.exhibits, "which: see --list");
  command->add_flag("--all", reproduce.all, "every exhibit there is");
  command->add_flag("--list", reproduce.list, "the exhibits");
  command->add_option("--scale", reproduce.scale,
                      "smoke: seconds, that it runs; quick: under a minute; paper: the paper's own horizon, "
                      "actions, dimension and runs (default: quick)");
  command->add_option("--out", reproduce.out,
                      "folder of the results; of several exhibits: that of their folders (default: "
                      "results/EXHIBIT)");
  command->add_option("--threads", reproduce.threads, "default: one a core; results do not depend on it")
      ->check(CLI::Range(1, 4096));
  AddSet(*command, reproduce.set);
  command->add_flag("--resume", reproduce.resume,
                    "go on with what was interrupted, start what was not begun");
  return command;
}

std::string Hint(const std::string& nearest, const std::string& all) {
  return nearest.empty() ? all : fmt::format("nearest: {}; {}", nearest, all);
}

// CLI11 says little of a mistyped command or flag: name it, and what is near.
absl::Status BadCommandLine(const CLI::App& app, const CLI::ParseError& error,
                            std::span<const std::string> arguments) {
  std::vector<std::string> flags = {"--help"};
  std::string help = "bandana";
  const CLI::App* command = &app;
  for (auto word = arguments.begin();; ++word) {
    for (const CLI::Option* option : command->get_options()) flags.push_back(option->get_name());
    std::vector<std::string> commands;
    for (const CLI::App* below : command->get_subcommands(nullptr)) commands.push_back(below->get_name());
    word = std::find_if(word, arguments.end(),
                        [](const std::string& argument) { return !argument.starts_with("-"); });
    if (word == arguments.end() || commands.empty()) break;
    if (std::find(commands.begin(), commands.end(), *word) == commands.end()) {
      return InvalidInput(
          {.message = "unknown",
           .key = "command",
           .value = *word,
           .accepted = Hint(lab::NearestIfNear(*word, commands), help + " --help lists them")});
    }
    command = command->get_subcommand(*word);
    help += " " + *word;
  }
  help += " --help";
  for (const std::string& argument : arguments) {
    const std::string flag = argument.substr(0, argument.find('='));
    if (!flag.starts_with("--") || std::find(flags.begin(), flags.end(), flag) != flags.end()) continue;
    return InvalidInput({.message = "unknown",
                         .key = "flag",
                         .value = flag,
                         .accepted = Hint(lab::NearestIfNear(flag, flags), help + " lists them")});
  }
  const std::string text = error.what();
  constexpr std::string_view kRequired = " is required";
  if (text.starts_with("--") && text.ends_with(kRequired)) {
    return InvalidInput({.message = "missing",
                         .key = text.substr(0, text.size() - kRequired.size()),
                         .accepted = help + " tells"});
  }
  // "--flag: what is wrong with its value"
  const std::size_t colon = text.find(": ");
  if (text.starts_with("--") && colon != std::string::npos) {
    return InvalidInput(
        {.message = text.substr(colon + 2), .key = text.substr(0, colon), .accepted = help + " tells"});
  }
  return InvalidInput({.message = text, .accepted = help + " tells"});
}

}  // namespace

int Main(int argc, char** argv) {
  CLI::App app(
      "Bandana learns the best action from many people's feedback, provably unable to learn about one of "
      "them.",
      "bandana");
  app.set_version_flag("--version", std::string("bandana ") + lab::kVersion);
  app.require_subcommand(1);
  app.fallthrough();
  Global global;
  app.add_flag("--json", global.json, "one JSON document on stdout, and nothing else there");
  app.add_flag("--quiet", global.quiet, "no progress on stderr");

  DemoArguments demo;
  CLI::App* demo_command =
      app.add_subcommand("demo", "a whole private federation on this machine, watched live");
  demo_command->add_option("--out", demo.out, "folder of the report (default: results/demo)");
  demo_command
      ->add_option("--model", demo.model,
                   "whom the clients trust: everyone, the server, nobody, or a shuffler process between "
                   "(default: central)")
      ->check(CLI::IsMember({"none", "central", "local", "shuffle"}));
  demo_command
      ->add_option(
          "--transport", demo.transport,
          "with --model shuffle: counts, which the shuffler adds up and is trusted with, in seconds; "
          "or bits, each encrypted by itself, in minutes (default: counts)")
      ->check(CLI::IsMember({"counts", "bits"}));
  demo_command->add_option("--epsilon", demo.epsilon, "budget of one client (default: 1)");
  demo_command->add_option("--agents", demo.agents, "agent processes (default: 3)")->check(CLI::Range(1, 64));
  demo_command
      ->add_option("--insecure-seed", demo.insecure_seed,
                   "draw all noise from this seed, then check the run against the simulator, bit for bit")
      ->check(IsSeed());

  RunArguments run;
  CLI::App* run_command = app.add_subcommand("run", "run an experiment and write its results and report");
  run_command->add_option("spec", run.spec, "the experiment, in TOML")->required();
  run_command->add_option("--out", run.out, "folder of the results (default: results/NAME)");
  run_command->add_option("--threads", run.threads, "default: one a core; results do not depend on it")
      ->check(CLI::Range(1, 4096));
  AddSet(*run_command, run.set);
  run_command->add_flag("--resume", run.resume, "go on with an interrupted run");
  run_command->add_option("--trace", run.trace, "file for every phase as a line of JSON");

  ReproduceArguments reproduce;
  CLI::App* reproduce_command = AddReproduce(app, reproduce);

  AccountArguments account;
  CLI::App* account_command =
      app.add_subcommand("account", "the guarantee of a list of releases, with its proof");
  account_command->add_option("file", account.file, "the releases, in JSON: see docs/accounting.md")
      ->required();
  account_command->add_option("--delta", account.delta, "find the epsilon at this delta")->type_name("D");
  account_command->add_option("--epsilon", account.epsilon, "find the delta at this epsilon")->type_name("E");

  std::string listed;
  CLI::App* list_command = app.add_subcommand("list", "what there is, with options and defaults");
  list_command->add_option("what", listed, "algorithms, environments, privatizers or exhibits")->required();

  LedgerArguments ledger;
  CLI::App* ledger_command =
      app.add_subcommand("ledger", "what was spent, by whom, and that nothing was altered");
  ledger_command->add_option("action", ledger.action, "show, verify or export")->required();
  ledger_command->add_option("file", ledger.file, "the ledger")->required();
  AddOptional(*ledger_command, "--client", ledger.client, "show: this client's account and charges");
  AddOptional(*ledger_command, "--head", ledger.head, "verify: a head that was noted, of any time");
  ledger_command->add_option("--format", ledger.format, "export: csv (default) or json");
  ledger_command->add_option("--out", ledger.out, "export: a file (default: stdout)");

  AuditArguments audit;
  CLI::App* audit_command = AddAudit(app, audit);

  CalibrateArguments calibrate;
  CLI::App* calibrate_command = AddCalibrate(app, calibrate);

  RoleArguments server;
  CLI::App* server_command = AddRole(
      app, "server", "the server of a deployment: takes agents, and a shuffler, at service.listen", server);
  server_command->add_option("--events", server.events, "file, or - for stdout, for events as lines of JSON");
  RoleArguments shuffler;
  CLI::App* shuffler_command = AddRole(
      app, "shuffler",
      "between agents and server under privacy.model = shuffle: joins service.server, takes agents at "
      "service.listen",
      shuffler);
  shuffler_command->add_option("--events", shuffler.events,
                               "file, or - for stdout, for events as lines of JSON");
  RoleArguments agent;
  CLI::App* agent_command = AddRole(app, "agent",
                                    "a process that holds some of the clients: joins service.server, and "
                                    "service.shuffler where there is one",
                                    agent);
  agent_command->add_option("--events", agent.events,
                            "file, or - for stdout, for a federation's decisions as lines of JSON");
  RoleArguments peer;
  CLI::App* peer_command = AddRole(app, "peer",
                                   "a peer of a deployment without a server (fed-ucb-p2p, ddp-mab): node "
                                   "service.node of those at service.peers",
                                   peer);
  peer_command->add_option("--events", peer.events, "file, or - for stdout, for events as lines of JSON");

  for (CLI::App* command : app.get_subcommands(nullptr)) {
    command->footer("--json and --quiet work with every command: see bandana --help.");
  }

  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (!arguments.empty() && arguments.front() == "help") arguments.front() = "--help";
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 takes them backwards
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForVersion& version) {
    return app.exit(version);
  } catch (const CLI::ParseError& error) {
    global.json = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
    return Fail(BadCommandLine(app, error, arguments), global);
  }
  if (demo_command->parsed()) {
    return DemoCommand(demo, std::filesystem::read_symlink("/proc/self/exe").string(), global);
  }
  if (run_command->parsed()) return RunCommand(run, global);
  if (reproduce_command->parsed()) return ReproduceCommand(reproduce, global);
  if (ledger_command->parsed()) return LedgerCommand(ledger, global);
  if (audit_command->parsed()) return AuditCommand(audit, global);
  if (calibrate_command->parsed()) return CalibrateCommand(calibrate, global);
  if (account_command->parsed()) return AccountCommand(account, global);
  if (server_command->parsed()) return ServerCommand(server, global);
  if (shuffler_command->parsed()) return ShufflerCommand(shuffler, global);
  if (agent_command->parsed()) return AgentCommand(agent, global);
  if (peer_command->parsed()) return PeerCommand(peer, global);
  return ListCommand(listed, global);
}

}  // namespace bandana::cli
