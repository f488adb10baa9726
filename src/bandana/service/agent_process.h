#pragma once

#include "absl/status/statusor.h"
#include "bandana/service/agent.h"
#include "bandana/service/agent_machine.h"

namespace bandana::service {

/// Checks the options, and runs an agent as a process.
absl::StatusOr<AgentReport> RunAgentProcess(const AgentParams& params, AgentMachine& machine);

}  // namespace bandana::service
