#pragma once

#include <string>

#include "absl/status/status.h"
#include "bandana/service/agent.h"
#include "proto/federation.pb.h"

/// The session code that both kinds of agents share: those whose clients answer plans, and those that play
/// round by round.
namespace bandana::service {

absl::Status ValidateAgent(const AgentParams& params);

/// Returns the agent's Hello, without the version.
v1::Hello HelloOf(const AgentParams& params);

/// Returns OK if the run has finished. Otherwise returns kUnavailable, or kResourceExhausted if a budget is
/// spent, with the host's reason.
absl::Status EndedBy(const std::string& host, const v1::Stop& stop);

}  // namespace bandana::service
