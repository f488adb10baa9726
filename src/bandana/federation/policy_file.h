#pragma once

#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/core/savable.h"

/// Files of saved roles: docs/saving.md.
namespace bandana {

/// Whose state a file holds: what a role made anew must have in common with the one that was saved.
struct PolicyIdentity {
  std::string algorithm;                               ///< as experiments name it
  std::string role;                                    ///< "server", "agent 3"
  std::map<std::string, std::string> parameters = {};  ///< all that it was made with, as text
};

/// Replaces the file: after a crash there is what there was, or all of this. Readable by its owner alone.
absl::Status WritePolicy(const std::string& path, const PolicyIdentity& identity, std::string_view saved);

/// What was saved. An error names the file: kInvalidArgument if it cannot be read or is another kind of file,
/// kDataLoss if it is not as it was written, kFailedPrecondition if it is of another policy, with the
/// parameter in which they differ.
absl::StatusOr<std::string> ReadPolicy(const std::string& path, const PolicyIdentity& identity);

/// The same for a role as it is, and for one that was made with the same parameters and goes on from there.
absl::Status SavePolicy(const std::string& path, const PolicyIdentity& identity, const Savable& role);
absl::Status LoadPolicy(const std::string& path, const PolicyIdentity& identity, Savable& role);

}  // namespace bandana
