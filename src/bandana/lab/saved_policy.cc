#include "bandana/lab/saved_policy.h"

#include <utility>

namespace bandana::lab {

PolicyIdentity IdentityOf(const Settings& settings, std::uint32_t replicate, std::string role) {
  PolicyIdentity identity{.algorithm = settings.Text("algorithm.name"), .role = std::move(role)};
  for (const auto& [key, value] : settings.values()) identity.parameters[key] = ToText(value);
  identity.parameters["replicate"] = std::to_string(replicate);
  return identity;
}

}  // namespace bandana::lab
