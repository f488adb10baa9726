#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/lab/vocabulary.h"

namespace bandana::lab {

/// Something with a name that a spec can ask for.
struct Entry {
  std::string name;
  std::string summary;
  std::vector<const Option*> options;  ///< its own, beside those that every experiment has
  Settings settings = {};              ///< what is asked for: options may have defaults of their own there
};

/// What there is of a kind: "algorithms", "environments", "privatizers" or "exhibits".
absl::StatusOr<std::vector<Entry>> Catalog(const std::string& kind);

}  // namespace bandana::lab
