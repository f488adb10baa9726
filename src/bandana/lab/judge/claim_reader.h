#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "bandana/lab/judge/claim.h"

namespace bandana::lab {

/// Reads the [[claim]], [[bound]] and [[not-runnable]] tables of a TOML file, stand_in, and the names in
/// [where] (docs/exhibits.md). `for` makes several claims of one table. Every error names the file, line,
/// key, value and what is accepted. A file without claims gives none.
absl::StatusOr<ExhibitClaims> ReadClaims(const std::string& text, const std::string& file);

}  // namespace bandana::lab
