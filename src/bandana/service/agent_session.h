#pragma once

#include <string>

#include "absl/status/status.h"
#include "bandana/service/agent.h"
#include "proto/federation.pb.h"

/// What agents of both kinds say and hear: those whose clients answer plans, and those who play round by
/// round.
namespace bandana::service {

absl::Status ValidateAgent(const AgentParams& params);

/// Without version.
v1::Hello HelloOf(const AgentParams& params);

/// OK if the run has finished, else kUnavailable, or kResourceExhausted if a budget is spent, with the host's
/// reason.
absl::Status EndedBy(const std::string& host, const v1::Stop& stop);

}  // namespace bandana::service
