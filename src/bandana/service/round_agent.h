#pragma once

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "bandana/bandit/world.h"
#include "bandana/federation/round_player.h"
#include "bandana/service/agent.h"

namespace bandana::service {

/// RunAgent for clients that play round by round, each with its own decision sets. A Model from the server
/// tells them how far to play. They answer with a share, or say that they have played to the end. It drives
/// their RoundPlayers as the simulator does, one client after the other, and asks the world for one round at
/// a time. It makes a client's player
/// when its first model comes. Errors are those of RunAgent, and also kUnimplemented: for a shuffler, or for
/// a client that itself asks for a sync.
absl::StatusOr<AgentReport> RunRoundAgent(
    const AgentParams& params, const std::function<std::unique_ptr<RoundPlayer<double>>(NodeId)>& make_player,
    RoundWorld& world);

}  // namespace bandana::service
