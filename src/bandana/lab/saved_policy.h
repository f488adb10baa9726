#pragma once

#include <cstdint>
#include <string>

#include "bandana/federation/policy_file.h"
#include "bandana/lab/settings.h"

namespace bandana::lab {

/// Whose state a role of a run saves: all of the settings are its parameters.
PolicyIdentity IdentityOf(const Settings& settings, std::uint32_t replicate, std::string role);

}  // namespace bandana::lab
