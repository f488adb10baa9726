#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/core/options.h"
#include "bandana/lab/summary.h"

namespace bandana::lab {

/// One option of an entry, with the default that it has there.
struct ListedOption {
  Option option;
  std::optional<Value> fallback;  ///< empty: it must be given where it applies
};

/// An algorithm, environment, privatizer, table of a spec or exhibit, as `bandana list` shows it.
struct Entry {
  std::string name;
  std::string paper;                 ///< where it was published; may be empty
  std::string sentence;              ///< one sentence that explains it
  std::string origin = {};           ///< the plugin that brought it; empty: it ships
  std::vector<std::string> worlds;   ///< only for algorithms: the environment.kind values that it accepts
  std::vector<std::string> trust;    ///< only for algorithms: the privacy.model values that it accepts
  std::vector<std::string> players;  ///< only for environments: the algorithms that play in it
  std::vector<ListedOption> options;
};

/// Returns the entries of a kind: "algorithms", "environments", "privatizers", "tables" or "exhibits". An
/// algorithm, or a kind of world, that has two forms with different options has an entry for each. The tables
/// are the keys at the top of a spec and [service], whose options belong to none of the others.
absl::StatusOr<std::vector<Entry>> Catalog(const std::string& kind);

Json ToJson(const Entry& entry);

}  // namespace bandana::lab
