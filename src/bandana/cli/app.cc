#include "bandana/cli/app.h"

#include <string>

#include "CLI/CLI.hpp"
#include "bandana/cli/commands.h"
#include "bandana/core/status.h"
#include "bandana/lab/version.h"
#include "fmt/format.h"

namespace bandana::cli {

int Main(int argc, char** argv) {
  CLI::App app("Bandana learns the best action from many people's feedback, provably unable to learn about one of them.",
               "bandana");
  app.set_version_flag("--version", std::string("bandana ") + lab::kVersion);
  app.require_subcommand(1);
  app.fallthrough();
  Global global;
  app.add_flag("--json", global.json, "one JSON document on stdout, and nothing else there");
  app.add_flag("--quiet", global.quiet, "no progress on stderr");

  RunArguments run;
  CLI::App* run_command = app.add_subcommand("run", "run an experiment and write its results and report");
  run_command->add_option("spec", run.spec, "the experiment, in TOML")->required();
  run_command->add_option("--out", run.out, "folder of the results (default: results/NAME)");
  run_command->add_option("--threads", run.threads, "default: one a core; results do not depend on it")
      ->check(CLI::Range(1, 4096));
  run_command->add_option("--set", run.set, "key=value, over the file; may be repeated")->type_size(1)->expected(-1);
  run_command->add_flag("--resume", run.resume, "go on with an interrupted run");

  std::string listed;
  CLI::App* list_command = app.add_subcommand("list", "what there is, with options and defaults");
  list_command->add_option("what", listed, "algorithms, environments, privatizers or exhibits")->required();

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForVersion& version) {
    return app.exit(version);
  } catch (const CLI::ParseError& error) {
    for (int i = 1; i < argc; ++i) global.json = global.json || std::string(argv[i]) == "--json";
    return Fail(InvalidInput({.message = error.what(), .accepted = "see: bandana --help"}), global);
  }
  if (run_command->parsed()) return RunCommand(run, global);
  return ListCommand(listed, global);
}

}  // namespace bandana::cli
