#pragma once

#include "bandana/cli/role_log.h"
#include "bandana/federation/observations.h"

namespace bandana::cli {

/// Writes that a server has completed a phase.
void LogPhase(RoleLog& log, const PhaseRecord& phase);

}  // namespace bandana::cli
