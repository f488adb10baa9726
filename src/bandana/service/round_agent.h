#pragma once

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "bandana/bandit/round_environment.h"
#include "bandana/federation/round_player.h"
#include "bandana/service/agent.h"

namespace bandana::service {

/// RunAgent for clients that play round by round, each meeting decision sets of its own: a Model from the
/// server tells them how far to play, and they answer with a share, or say that they have played to the end.
/// It drives their RoundPlayers as sim::RoundSimulator does, one client after the other. A client's player is
/// made when its first model comes. Errors are those of RunAgent, and also kUnimplemented: a shuffler, or a
/// client that asks for a synchronisation by itself.
absl::StatusOr<AgentReport> RunRoundAgent(
    const AgentParams& params, const std::function<std::unique_ptr<RoundPlayer<double>>(NodeId)>& make_player,
    RoundWorld& world);

}  // namespace bandana::service
