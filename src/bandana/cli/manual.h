#pragma once

#include <map>
#include <string>

#include "bandana/cli/output.h"

namespace CLI {
class App;
}

/// Manual pages. They are made from the same commands, flags and sentences as --help.
namespace bandana::cli {

/// Returns "Examples:" and the examples of a command, one per line, for the end of its help; nothing if there
/// is none.
std::string ExamplesInHelp(const std::string& command);

/// Returns the page of the program and one page per command, in the language of man (roff), by the name of
/// the page: "bandana", "bandana-run".
std::map<std::string, std::string> ManualPages(const CLI::App& app);

/// Prints `page`, or writes all pages into `folder` as PAGE.1, and returns the exit code.
int ManualCommand(const CLI::App& app, const std::string& page, const std::string& folder,
                  const Global& global);

}  // namespace bandana::cli
