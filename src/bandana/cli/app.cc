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
#include "bandana/algorithms/plugin.h"
#include "bandana/cli/commands.h"
#include "bandana/cli/completions.h"
#include "bandana/cli/manual.h"
#include "bandana/config.h"
#include "bandana/core/nearest.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana::cli {
namespace {

void AddSet(CLI::App& command, std::vector<std::string>& set) {
  command.add_option("--set", set, "An assignment key=value that overrides the file. It may be repeated.")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
}

// Adds an option without a default. If the option were bound to the std::optional itself, CLI11 would take an
// empty value for no value.
template <class T>
CLI::Option* AddOptional(CLI::App& command, const std::string& flag, std::optional<T>& value,
                         const std::string& help) {
  return command.add_option_function<T>(flag, [&value](const T& given) { value = given; }, help);
}

// Accepts whole numbers from 0 to 2^64 - 1. CLI11 by itself wraps numbers that are negative or too large.
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
      "audit",
      "Attacks the privacy claim of a mechanism or of a whole algorithm. Prints lower bounds on epsilon and "
      "delta, with their confidence.");
  command->add_option("target", audit.target, "The target of the attack. --list prints all targets.")
      ->type_name("TARGET");
  command->add_flag("--all", audit.all, "Attacks every target, except those that are known to fail.");
  command->add_flag("--list", audit.list, "Prints the targets.");
  command
      ->add_option("--model", audit.model,
                   "The trust model, if the target is an algorithm (default: central).")
      ->type_name("MODEL");
  AddOptional(*command, "--epsilon", audit.epsilon,
              "The epsilon for which the target is set up (default: the target's own).")
      ->type_name("E");
  AddOptional(*command, "--delta", audit.delta,
              "The delta for which the target is set up (default: the target's own).")
      ->type_name("D");
  AddOptional(*command, "--draws", audit.draws,
              "How many times the target is run under each neighbour (default: the target's own number).")
      ->type_name("N");
  command
      ->add_option("--confidence", audit.confidence,
                   "The confidence of all verdicts together (default: 0.999999).")
      ->type_name("P");
  command
      ->add_option("--seed", audit.seed,
                   "The seed of the noise. The same seed gives the same findings (default: 1).")
      ->type_name("SEED")
      ->check(IsSeed());
  command->add_flag("--secure", audit.secure,
                    "Draws noise from the operating system's entropy, as the service does.");
  command
      ->add_option("--threads", audit.threads,
                   "The number of threads. Findings do not depend on it (default: one per core).")
      ->type_name("N")
      ->check(CLI::Range(1, 4096));
  return command;
}

CLI::App* AddRole(CLI::App& app, const std::string& name, const std::string& help, RoleArguments& arguments) {
  CLI::App* command = app.add_subcommand(name, help);
  command
      ->add_option("config", arguments.config,
                   "A TOML file with the experiment and a [service] table. bandana list tables service "
                   "prints the keys of [service].")
      ->type_name("FILE")
      ->required();
  AddSet(*command, arguments.set);
  command->add_flag(
      "--insecure-seed", arguments.insecure_seed,
      "Draws noise from the spec's seed. The run can be repeated, and its privacy claim is void.");
  return command;
}

CLI::App* AddKeys(CLI::App& app, KeysArguments& keys) {
  CLI::App* command = app.add_subcommand(
      "keys",
      "Makes, replaces and revokes the certificates with which the parties of a deployment know each other.");
  command->add_option("action", keys.action, "One of init, issue, rotate, revoke, show.")
      ->type_name("ACTION")
      ->required();
  command
      ->add_option("subject", keys.subject,
                   "For init: the folder of the new CA. For issue, rotate and revoke: the party, such as "
                   "server or agent/3. revoke also accepts the serial of one certificate.")
      ->type_name("PARTY");
  command
      ->add_option("--keys", keys.keys, "The folder of the CA, or for show that of a party (default: keys).")
      ->type_name("DIR");
  AddOptional(*command, "--days", keys.days,
              "For issue and rotate: how many days the certificate is valid (default: 90).")
      ->type_name("N")
      ->check(CLI::Range(1, 3650));
  command
      ->add_option(
          "--out", keys.out,
          "For issue and rotate: a folder to carry to the machine of the party. The private keys are "
          "then only there.")
      ->type_name("DIR");
  command
      ->add_option("--deployment", keys.deployment,
                   "For init: the name of the deployment, 32 hexadecimal digits (default: a random name).")
      ->type_name("ID");
  return command;
}

CLI::App* AddReproduce(CLI::App& app, ReproduceArguments& reproduce) {
  CLI::App* command = app.add_subcommand(
      "reproduce",
      "Runs a figure or table of a paper again, and compares each claim of the paper with the result.");
  command
      ->add_option("exhibits", reproduce.exhibits,
                   "The names of the figures and tables, or TOML files with claims. --list prints all names.")
      ->type_name("EXHIBIT");
  command->add_flag("--all", reproduce.all, "Runs every exhibit.");
  command->add_flag("--list", reproduce.list, "Prints the exhibits.");
  command
      ->add_option("--scale", reproduce.scale,
                   "The size of the runs (default: quick). smoke: takes seconds and only shows that the "
                   "exhibit runs. quick: takes less than a minute. paper: has the paper's own horizon, "
                   "actions, dimension and number of runs.")
      ->type_name("SCALE:{smoke,quick,paper}");
  command
      ->add_option("--out", reproduce.out,
                   "The folder of the results (default: results/EXHIBIT). With several exhibits, each one "
                   "gets a folder in it.")
      ->type_name("DIR");
  command
      ->add_option("--threads", reproduce.threads,
                   "The number of threads. Results do not depend on it (default: one per core).")
      ->type_name("N")
      ->check(CLI::Range(1, 4096));
  AddSet(*command, reproduce.set);
  command->add_flag("--resume", reproduce.resume,
                    "Continues exhibits that were interrupted, and starts those that were not begun.");
  return command;
}

std::string Hint(const std::string& nearest, const std::string& all) {
  return nearest.empty() ? all : fmt::format("nearest: {}; {}", nearest, all);
}

// Returns an error that names the mistyped command or flag and the nearest known one; CLI11's own message
// says little.
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
      return InvalidInput({.message = "unknown",
                           .key = "command",
                           .value = *word,
                           .accepted = Hint(NearestIfNear(*word, commands), help + " --help lists them")});
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
                         .accepted = Hint(NearestIfNear(flag, flags), help + " lists them")});
  }
  const std::string text = error.what();
  constexpr std::string_view kRequired = " is required";
  if (text.starts_with("--") && text.ends_with(kRequired)) {
    return InvalidInput({.message = "missing",
                         .key = text.substr(0, text.size() - kRequired.size()),
                         .accepted = "see " + help});
  }
  // CLI11 writes "--flag: what is wrong with its value".
  const std::size_t colon = text.find(": ");
  if (text.starts_with("--") && colon != std::string::npos) {
    return InvalidInput(
        {.message = text.substr(colon + 2), .key = text.substr(0, colon), .accepted = "see " + help});
  }
  return InvalidInput({.message = text, .accepted = "see " + help});
}

}  // namespace

int Main(int argc, char** argv) {
  CLI::App app(
      "Bandana learns the best action from the feedback of many people. Its noise bounds how much one "
      "client's feedback can change what others see.",
      "bandana");
  app.set_help_flag("-h,--help", "Prints this help.");
  app.set_version_flag("--version", std::string("bandana ") + Version(), "Prints the version.");
  app.require_subcommand(1);
  app.fallthrough();
  Global global;
  app.add_flag("--json", global.json, "Prints one JSON document on stdout, and nothing else there.");
  app.add_flag("--quiet", global.quiet, "Prints no progress on stderr.");
  app.add_option(
         "--plugin", global.plugins,
         "A shared library with algorithms or worlds of your own. It may be repeated. Its code runs in "
         "this process.")
      ->type_name("FILE")
      ->expected(1)
      ->take_all();

  DemoArguments demo;
  CLI::App* demo_command =
      app.add_subcommand("demo", "Runs a whole private federation on this machine and shows it live.");
  demo_command->add_option("--out", demo.out, "The folder of the report (default: results/demo).")
      ->type_name("DIR");
  demo_command
      ->add_option(
          "--model", demo.model,
          "The trust model (default: central). none: there is no privacy. central: clients trust the "
          "server. local: clients trust nobody. shuffle: clients trust a shuffler process between "
          "them and the server.")
      ->type_name("MODEL")
      ->check(CLI::IsMember({"none", "central", "local", "shuffle"}));
  demo_command
      ->add_option(
          "--transport", demo.transport,
          "How reports travel with --model shuffle (default: counts). counts: the shuffler adds up each "
          "client's noisy counts and is trusted with them; this takes seconds. bits: every bit is encrypted "
          "by itself; this takes minutes.")
      ->type_name("TRANSPORT")
      ->check(CLI::IsMember({"counts", "bits"}));
  demo_command->add_option("--epsilon", demo.epsilon, "The epsilon of one client's budget (default: 1).")
      ->type_name("E");
  demo_command->add_option("--agents", demo.agents, "The number of agent processes (default: 3).")
      ->type_name("N")
      ->check(CLI::Range(1, 64));
  demo_command
      ->add_option(
          "--insecure-seed", demo.insecure_seed,
          "Draws all noise from this seed, then compares the run with the simulator, bit for bit. The "
          "privacy claim is void.")
      ->type_name("SEED")
      ->check(IsSeed());

  RunArguments run;
  CLI::App* run_command =
      app.add_subcommand("run", "Runs an experiment and writes its results and a report.");
  run_command->add_option("spec", run.spec, "The experiment, in TOML.")->type_name("FILE")->required();
  run_command->add_option("--out", run.out, "The folder of the results (default: results/NAME).")
      ->type_name("DIR");
  run_command
      ->add_option("--threads", run.threads,
                   "The number of threads. Results do not depend on it (default: one per core).")
      ->type_name("N")
      ->check(CLI::Range(1, 4096));
  AddSet(*run_command, run.set);
  run_command->add_flag("--resume", run.resume, "Continues an interrupted run.");
  run_command
      ->add_option("--trace", run.trace,
                   "A file to which every phase, or every agent's decisions, are written as lines of "
                   "JSON.")
      ->type_name("FILE");

  ReproduceArguments reproduce;
  CLI::App* reproduce_command = AddReproduce(app, reproduce);

  AccountArguments account;
  CLI::App* account_command =
      app.add_subcommand("account", "Computes the guarantee of a list of releases, and names its proof.");
  account_command->add_option("file", account.file, "The releases, in JSON. See docs/accounting.md.")
      ->type_name("FILE")
      ->required();
  account_command->add_option("--delta", account.delta, "Finds the epsilon at this delta.")->type_name("D");
  account_command->add_option("--epsilon", account.epsilon, "Finds the delta at this epsilon.")
      ->type_name("E");

  std::string listed;
  std::string listed_name;
  CLI::App* list_command = app.add_subcommand(
      "list",
      "Lists algorithms, environments, privatizers, tables of a spec or exhibits, and their options.");
  list_command->add_option("what", listed, "One of algorithms, environments, privatizers, tables, exhibits.")
      ->type_name("KIND")
      ->required();
  list_command->add_option("name", listed_name, "The name of one entry, whose options are printed.")
      ->type_name("NAME");

  LedgerArguments ledger;
  CLI::App* ledger_command =
      app.add_subcommand("ledger", "Shows, verifies or exports the record of what each client has spent.");
  ledger_command->add_option("action", ledger.action, "One of show, verify, export.")
      ->type_name("ACTION")
      ->required();
  ledger_command->add_option("file", ledger.file, "The ledger's file, or a store, whose ledger is read.")
      ->type_name("FILE")
      ->required();
  AddOptional(*ledger_command, "--client", ledger.client,
              "For show: the client whose account and charges are printed.")
      ->type_name("CLIENT");
  AddOptional(*ledger_command, "--head", ledger.head, "For verify: a head that was noted earlier.")
      ->type_name("HEAD");
  ledger_command
      ->add_option("--key", ledger.key,
                   "For verify: the public key in PEM that must have signed the store's head, or the head in "
                   "--anchor.")
      ->type_name("PEM");
  ledger_command
      ->add_option("--anchor", ledger.anchor,
                   "For verify: a file with a signed head, such as the store's anchor. The ledger must have "
                   "its line.")
      ->type_name("ANCHOR");
  ledger_command
      ->add_option("--format", ledger.format,
                   "For export: csv (default), json, or mirror, which copies a store's ledger line by line.")
      ->type_name("FORMAT:{csv,json,mirror}");
  ledger_command->add_option("--out", ledger.out, "For export: the file to write (default: stdout).")
      ->type_name("FILE");

  KeysArguments keys;
  CLI::App* keys_command = AddKeys(app, keys);
  StoreArguments store;
  CLI::App* store_command = AddStore(app, store);

  AuditArguments audit;
  CLI::App* audit_command = AddAudit(app, audit);

  CalibrateArguments calibrate;
  CLI::App* calibrate_command = AddCalibrate(app, calibrate);

  RoleArguments server;
  CLI::App* server_command =
      AddRole(app, "server",
              "Runs the server of a deployment. Agents and a shuffler join it at service.listen.", server);
  server_command
      ->add_option(
          "--events", server.events,
          "A file to which the log is appended as lines of JSON, with what is released; - means stdout.")
      ->type_name("FILE");
  RoleArguments shuffler;
  CLI::App* shuffler_command = AddRole(app, "shuffler",
                                       "Runs the shuffler between agents and server, if privacy.model is "
                                       "shuffle. It joins service.server, and agents join it at "
                                       "service.listen.",
                                       shuffler);
  shuffler_command
      ->add_option(
          "--events", shuffler.events,
          "A file to which the log is appended as lines of JSON, with what is released; - means stdout.")
      ->type_name("FILE");
  RoleArguments agent;
  CLI::App* agent_command = AddRole(app, "agent",
                                    "Runs an agent, which holds some of the clients. It joins service.server "
                                    "and, if there is a shuffler, service.shuffler.",
                                    agent);
  agent_command
      ->add_option(
          "--events", agent.events,
          "A file to which the log is appended as lines of JSON, with the agent's decisions; - means "
          "stdout.")
      ->type_name("FILE");
  RoleArguments peer;
  CLI::App* peer_command = AddRole(app, "peer",
                                   "Runs a peer of a deployment without a server (fed-ucb-p2p, ddp-mab). It "
                                   "is node service.node of those at service.peers.",
                                   peer);
  peer_command
      ->add_option(
          "--events", peer.events,
          "A file to which the log is appended as lines of JSON, with what is released; - means stdout.")
      ->type_name("FILE");

  std::string manual_page;
  std::string manual_folder;
  CLI::App* manual_command =
      app.add_subcommand("manual", "Writes the manual pages of the commands, for man.")->group("");
  manual_command->add_option("page", manual_page, "The page to print: bandana or bandana-COMMAND.")
      ->type_name("PAGE");
  manual_command->add_option("--out", manual_folder, "The folder to which all pages are written.")
      ->type_name("DIR");
  CLI::App* completions_command =
      app.add_subcommand("completions", "Prints the completions of commands and flags for bash.")->group("");
  std::string completions_file;
  completions_command->add_option("--out", completions_file, "The file to write (default: stdout).")
      ->type_name("FILE");

  for (CLI::App* command : app.get_subcommands(nullptr)) {
    command->footer(ExamplesInHelp(command->get_name()) +
                    "--json, --quiet and --plugin work with every command. See bandana --help.");
  }

  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (!arguments.empty() && arguments.front() == "help") arguments.front() = "--help";
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 wants reverse order
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForVersion& version) {
    return app.exit(version);
  } catch (const CLI::ParseError& error) {
    global.json = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
    return Fail(BadCommandLine(app, error, arguments), global);
  }
  for (const std::string& plugin : global.plugins) {
    if (const absl::Status status = LoadPlugin(plugin); !status.ok()) return Fail(status, global);
  }
  if (demo_command->parsed()) {
    return DemoCommand(demo, std::filesystem::read_symlink("/proc/self/exe").string(), global);
  }
  if (manual_command->parsed()) return ManualCommand(app, manual_page, manual_folder, global);
  if (completions_command->parsed()) return CompletionsCommand(app, completions_file, global);
  if (run_command->parsed()) return RunCommand(run, global);
  if (reproduce_command->parsed()) return ReproduceCommand(reproduce, global);
  if (ledger_command->parsed()) return LedgerCommand(ledger, global);
  if (keys_command->parsed()) return KeysCommand(keys, global);
  if (store_command->parsed()) return StoreCommand(store, global);
  if (audit_command->parsed()) return AuditCommand(audit, global);
  if (calibrate_command->parsed()) return CalibrateCommand(calibrate, global);
  if (account_command->parsed()) return AccountCommand(account, global);
  if (server_command->parsed()) return ServerCommand(server, global);
  if (shuffler_command->parsed()) return ShufflerCommand(shuffler, global);
  if (agent_command->parsed()) return AgentCommand(agent, global);
  if (peer_command->parsed()) return PeerCommand(peer, global);
  return ListCommand(listed, listed_name, global);
}

}  // namespace bandana::cli
