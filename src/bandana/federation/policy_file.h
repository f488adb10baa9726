#pragma once

#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/core/savable.h"

/// Files that hold saved roles: docs/saving.md.
namespace bandana {

/// Identifies the role whose state a file holds. A new role must have the same identity to restore that
/// state.
struct PolicyIdentity {
  std::string algorithm;                               ///< the name in experiment files
  std::string role;                                    ///< "server", "agent 3"
  std::map<std::string, std::string> parameters = {};  ///< all parameters of the role, as text
};

/// Replaces the file atomically: after a crash it holds either the old contents or all of the new. Only its
/// owner can read it.
absl::Status WritePolicy(const std::string& path, const PolicyIdentity& identity, std::string_view saved);

/// Returns the saved state. An error names the file. It is kInvalidArgument if the file cannot be read or is
/// of another kind, kDataLoss if it is damaged, and kFailedPrecondition if it belongs to another policy; then
/// it names the parameter that differs.
absl::StatusOr<std::string> ReadPolicy(const std::string& path, const PolicyIdentity& identity);

/// WritePolicy and ReadPolicy for a role object. LoadPolicy needs a role made with the same parameters; the
/// role then continues where the saved one stopped.
absl::Status SavePolicy(const std::string& path, const PolicyIdentity& identity, const Savable& role);
absl::Status LoadPolicy(const std::string& path, const PolicyIdentity& identity, Savable& role);

}  // namespace bandana
