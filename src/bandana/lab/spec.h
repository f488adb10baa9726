#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/core/ids.h"
#include "bandana/lab/settings.h"

namespace bandana::lab {

/// One combination of settings that is run, with every default filled in and nothing that it ignores.
struct Point {
  std::string label;
  Settings settings;
  Settings varied;  ///< the keys in which points may differ: swept, or set by a variant
};

/// An experiment as a user wrote it, checked word by word.
struct Spec {
  std::string file;
  std::string name;
  std::vector<Point> points;
  std::vector<std::string> swept;
  std::string toml;                         ///< resolved: reading it again gives the same spec
  std::string sha256;                       ///< of `toml`
  Settings service;                         ///< the [service] table, which is no part of the experiment
  std::set<std::string> given;              ///< keys of the base that were not left to their defaults
  std::vector<std::string> without_effect;  ///< those of them that no point takes

  std::int64_t replicates() const { return points.front().settings.Integer("replicates"); }
};

/// `--set key=value`, last word over the file, its sweeps and its variants.
using Overrides = std::vector<std::string>;

/// Reads and resolves a spec. Every error names the file, line, key, value and what is accepted.
absl::StatusOr<Spec> LoadSpec(const std::string& path, const Overrides& overrides);

/// The same from text; `path` is for messages and for relative files.
absl::StatusOr<Spec> ParseSpec(const std::string& text, const std::string& path, const Overrides& overrides);

/// The rounds at which a point's results are written: ascending, the last one is the horizon unless a list
/// says otherwise.
std::vector<Count> Checkpoints(const Settings& settings);

}  // namespace bandana::lab
