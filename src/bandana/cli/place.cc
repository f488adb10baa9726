#include "bandana/cli/place.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana::cli {

absl::Status BadService(const RoleConfig& config, const std::string& key, const std::string& value,
                        std::string accepted) {
  return InvalidInput({.message = "not accepted",
                       .file = config.spec.file,
                       .key = key,
                       .value = value,
                       .accepted = std::move(accepted)});
}

absl::StatusOr<NodeId> NodeOf(const RoleConfig& config, Count agents) {
  const lab::Settings& service = config.spec.service;
  const Count node = service.Has("service.node") ? service.Integer("service.node") : 0;
  if (node >= 1 && node <= agents) return NodeId{static_cast<std::uint32_t>(node)};
  return BadService(config, "service.node", node == 0 ? "" : fmt::format("{}", node),
                    fmt::format("a whole number from 1 to {}", agents));
}

absl::StatusOr<std::vector<std::string>> AddressesOf(const RoleConfig& config, Count agents) {
  BANDANA_ASSIGN_OR_RETURN(const std::string peers, config.Service("peers"));
  std::vector<std::string> addresses;
  for (const auto& address : absl::StrSplit(peers, ',')) {
    addresses.emplace_back(absl::StripAsciiWhitespace(address));
  }
  if (static_cast<Count>(addresses.size()) == agents) return addresses;
  return BadService(config, "service.peers", peers, fmt::format("{} addresses, one a node", agents));
}

}  // namespace bandana::cli
