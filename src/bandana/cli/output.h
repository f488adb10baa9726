#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "bandana/lab/judge/statistics.h"
#include "bandana/lab/spec.h"
#include "bandana/lab/summary.h"

namespace bandana::cli {

/// The options that every command has.
struct Global {
  bool json = false;                      ///< print one JSON document on stdout, and nothing else there
  bool quiet = false;                     ///< print no progress
  std::vector<std::string> plugins = {};  ///< the files of those that are loaded
};

lab::Json GuaranteeJson(const DpGuarantee& guarantee);

/// Returns the text for a JSON document: null if it is empty.
lab::Json TextOrNull(const std::string& text);

/// Prints an error, as text on stderr or as JSON on stdout, and returns its exit code: 2 for bad input, 3 if
/// a budget is exceeded, 4 if another process or the network failed, 130 if interrupted, 1 for anything else.
int Fail(const absl::Status& status, const Global& global);

/// Warns on stderr about each key that the user gave and that has no effect.
void NoteKeysWithoutEffect(const lab::Spec& spec, const Global& global);

/// Returns a text table whose columns are padded to their widest cell. The first row is the header.
std::string Table(const std::vector<std::vector<std::string>>& rows);

/// Returns a number for people, with at most three digits: 1234 -> "1.23k".
using lab::Figure;

/// Returns the text as one word for a shell, quoted if necessary.
std::string Quoted(const std::string& text);

/// Returns the flags --plugin that a command needs to run again, each behind a blank.
std::string PluginFlags(const Global& global);

}  // namespace bandana::cli
