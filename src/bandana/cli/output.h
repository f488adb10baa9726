#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "bandana/lab/exhibits/statistics.h"
#include "bandana/lab/spec.h"
#include "bandana/lab/summary.h"

namespace bandana::cli {

/// What every command shares.
struct Global {
  bool json = false;   ///< one JSON document on stdout, nothing else there
  bool quiet = false;  ///< no progress
};

/// Prints an error, as text on stderr or as JSON on stdout, and gives its exit code: 2 bad input, 3 over
/// budget, 4 an outside part failed, 130 interrupted, 1 anything else.
int Fail(const absl::Status& status, const Global& global);

/// Names on stderr the keys that were given and that nothing takes: who set one meant it to do something.
void NoteKeysWithoutEffect(const lab::Spec& spec, const Global& global);

/// Columns padded to their widest cell; the first row is the header.
std::string Table(const std::vector<std::vector<std::string>>& rows);

/// A figure as a person wants it: 1234 -> "1.23k", at most three digits.
using lab::Figure;

/// A word as a shell takes it.
std::string Quoted(const std::string& text);

}  // namespace bandana::cli
