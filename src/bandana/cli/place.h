#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/cli/role.h"
#include "bandana/core/ids.h"

namespace bandana::cli {

absl::Status BadService(const RoleConfig& config, const std::string& key, const std::string& value,
                        std::string accepted);

/// service.node, one of 1 .. agents.
absl::StatusOr<NodeId> NodeOf(const RoleConfig& config, Count agents);

/// service.peers: the addresses of nodes 1 .. agents.
absl::StatusOr<std::vector<std::string>> AddressesOf(const RoleConfig& config, Count agents);

}  // namespace bandana::cli
