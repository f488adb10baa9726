#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/bandit/recorder.h"
#include "bandana/lab/settings.h"
#include "bandana/privacy/claim.h"

/// Experiments in which agents meet decision sets of their own, round by round: fed-ucb, fed-ucb-p2p,
/// private-lin-ucb.
namespace bandana::lab {

/// What a replicate of a federated point came to.
struct FederatedOutcome {
  std::vector<Checkpoint> checkpoints;
  std::vector<std::vector<ArmId>> decisions;  ///< of each agent, if asked for
};

/// That the point can be run. Errors name the key.
absl::Status CheckFederated(const Settings& settings);

absl::StatusOr<std::vector<Claim>> FederatedClaims(const Settings& settings);

/// Why a point claims nothing though it draws noise; empty if it does.
std::string FederatedVoidReason(const Settings& settings);

/// `threads` may be used; the result does not depend on them.
absl::StatusOr<FederatedOutcome> RunFederated(const Settings& settings, std::uint32_t replicate, int threads,
                                              bool decisions, const std::atomic<bool>& stop);

}  // namespace bandana::lab
