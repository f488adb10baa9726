#pragma once

#include "absl/status/statusor.h"
#include "bandana/cli/role_run.h"

namespace bandana::cli {

/// Returns whether the spec is about an application's own people.
bool IsLive(const RoleRun& run);

/// Runs the server of a live world. Returns a summary of the run. Fails for every other role.
absl::StatusOr<lab::Json> ServeLive(const RoleRun& run);

}  // namespace bandana::cli
