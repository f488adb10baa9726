#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/bandit/recorder.h"
#include "bandana/lab/settings.h"
#include "bandana/privacy/claim.h"

/// Experiments with a new user every round, who has a context of its own: P5's algorithms and their
/// baselines.
namespace bandana::lab {

/// That the point can be run. Errors name the key.
absl::Status CheckUsers(const Settings& settings);

absl::StatusOr<std::vector<Claim>> UsersClaims(const Settings& settings);

absl::StatusOr<std::vector<Checkpoint>> RunUsers(const Settings& settings, std::uint32_t replicate,
                                                 const std::atomic<bool>& stop);

}  // namespace bandana::lab
