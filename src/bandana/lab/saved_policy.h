#pragma once

#include <cstdint>
#include <string>

#include "bandana/federation/policy_file.h"
#include "bandana/lab/settings.h"

namespace bandana::lab {

/// Returns the identity under which a role of this run saves its state. All settings and the replicate are
/// part of it, so that a run with other settings cannot load the state.
PolicyIdentity IdentityOf(const Settings& settings, std::uint32_t replicate, std::string role);

}  // namespace bandana::lab
