#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/core/ids.h"
#include "bandana/lab/settings.h"

namespace bandana::lab {

/// Where a value was written.
struct Source {
  std::string file;  ///< a file, or "--set"
  int line = 0;      ///< from 1; 0: on the command line
};
using Sources = std::map<std::string, Source>;  ///< by dotted key

/// One combination of settings that is run. It has every default filled in, and no option that has no effect.
struct Point {
  std::string label;
  Settings settings;
  Settings varied;                 ///< the keys in which points may differ: swept, or set by a variant
  std::vector<std::string> order;  ///< the keys of `settings`, as a spec writes them
  std::map<std::string, std::optional<Value>> defaults;  ///< the default of each of these keys, if it has one
  Sources sources;  ///< where each value that was given is written, [service] included
};

/// Adds to an error where the value that it names was written, or the file alone if it was not written.
absl::Status WithSource(const absl::Status& status, const Sources& sources, const std::string& file);

/// The tables and keys of a file that are not part of its spec: bandana reproduce reads them
/// (docs/exhibits.md).
inline constexpr std::string_view kExhibitKeys[] = {"scale", "claim",        "where",
                                                    "bound", "not-runnable", "stand_in"};

/// An experiment as a user wrote it, with every key and value checked.
struct Spec {
  std::string file;
  std::string name;
  std::vector<Point> points;
  std::vector<std::string> swept;
  std::string toml;             ///< the resolved spec; reading it again gives the same spec
  std::string sha256;           ///< the digest of `toml`
  Settings service;             ///< the [service] table, which is no part of the experiment
  std::set<std::string> given;  ///< the keys that the file or --set gives outside sweeps and variants
  std::vector<std::string> without_effect;  ///< the keys of `given` that no point uses

  std::int64_t replicates() const { return points.front().settings.Integer("replicates"); }
};

/// Assignments `key=value` from --set. They override the file, its sweeps and its variants.
using Overrides = std::vector<std::string>;

/// Reads and resolves a spec. Every error names the file, line, key, value and what is accepted. The tables
/// of an exhibit that are no part of the experiment ([scale], [where] and [[claim]]) are skipped.
absl::StatusOr<Spec> LoadSpec(const std::string& path, const Overrides& overrides);

/// Does what LoadSpec does, with text instead of a file. `path` appears in messages, and relative paths in
/// the text are resolved against its folder.
absl::StatusOr<Spec> ParseSpec(const std::string& text, const std::string& path, const Overrides& overrides);

/// Returns the rounds at which a point's results are written, ascending. The last one is the horizon, unless
/// the spec lists the rounds.
std::vector<Count> Checkpoints(const Settings& settings);

}  // namespace bandana::lab
