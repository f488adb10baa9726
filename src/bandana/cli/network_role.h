#pragma once

#include <stop_token>

#include "absl/status/statusor.h"
#include "bandana/cli/commands.h"
#include "bandana/cli/role.h"
#include "bandana/lab/summary.h"

namespace bandana::cli {

enum class NetworkRole { kServer, kAgent, kPeer };

/// One node of a network with arms, as a process: the server of cdp-mab or hdp-mab, one of its agents, or a
/// peer of ddp-mab.
absl::StatusOr<lab::Json> RunNetworkRole(const RoleConfig& config, NetworkRole role, Events& events,
                                         const Global& global, const std::stop_token& stop);

}  // namespace bandana::cli
