#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "bandana/lab/judge/statistics.h"
#include "bandana/lab/spec.h"
#include "bandana/lab/summary.h"
#include "bandana/lab/text_table.h"

namespace bandana::cli {

/// The options that every command has.
struct Global {
  bool json = false;                      ///< print one JSON document on stdout, and nothing else there
  bool quiet = false;                     ///< print no progress
  std::vector<std::string> plugins = {};  ///< the files of those that are loaded
};

using lab::GuaranteeJson;
using lab::Table;
using lab::TextOrNull;

/// Prints an error, as text on stderr or as JSON on stdout, and returns its exit code: 2 for bad input, 3 if
/// a budget is exceeded, 4 if another process or the network failed, 130 if interrupted, 1 for anything else.
int Fail(const absl::Status& status, const Global& global);
int ExitCode(const absl::Status& status);

/// Warns on stderr about each key that the user gave and that has no effect.
void NoteKeysWithoutEffect(const lab::Spec& spec, const Global& global);

/// Returns a number for people, with at most three digits: 1234 -> "1.23k".
using lab::Figure;

/// Returns the text as one word for a shell, quoted if necessary.
std::string Quoted(const std::string& text);

/// Returns the flags --plugin that a command needs to run again, each behind a blank.
std::string PluginFlags(const Global& global);

}  // namespace bandana::cli
