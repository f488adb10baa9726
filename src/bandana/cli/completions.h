#pragma once

#include <string>

#include "bandana/cli/output.h"

namespace CLI {
class App;
}

namespace bandana::cli {

/// Returns a script that teaches bash to complete commands, flags, files, and the names of algorithms,
/// exhibits and so on, for which it asks the program.
std::string BashCompletions(const CLI::App& app);

/// Prints the script, or writes it to the file `out`, and returns the exit code.
int CompletionsCommand(const CLI::App& app, const std::string& out, const Global& global);

}  // namespace bandana::cli
