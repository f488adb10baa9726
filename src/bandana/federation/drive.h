#pragma once

#include <vector>

#include "absl/status/status.h"
#include "bandana/bandit/environment.h"
#include "bandana/core/status.h"
#include "bandana/federation/node.h"

namespace bandana {

/// Hands a player one message, then lets it act for as long as it wants to: the loop of every driver,
/// simulated or real. `rewards` is scratch space.
template <class AnyPlayer>
absl::Status DriveMessage(AnyPlayer& player, Context& context, const Message& message,
                          Environment& environment, std::vector<RewardSum>& rewards) {
  BANDANA_RETURN_IF_ERROR(player.OnMessage(context, message));
  const Epoch epoch = std::get<std::shared_ptr<const Plan>>(message.body)->epoch;
  for (std::span<const Pull> pulls = player.Act(context); !pulls.empty(); pulls = player.Act(context)) {
    rewards.resize(pulls.size());
    BANDANA_RETURN_IF_ERROR(environment.Answer(context.links().self, epoch, pulls, rewards));
    BANDANA_RETURN_IF_ERROR(player.Observe(context, Raw<RewardSums>(rewards)));
  }
  return absl::OkStatus();
}

}  // namespace bandana
