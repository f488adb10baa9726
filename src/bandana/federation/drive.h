#pragma once

#include <vector>

#include "absl/status/status.h"
#include "bandana/bandit/world.h"
#include "bandana/core/status.h"
#include "bandana/federation/node.h"

namespace bandana {

/// Fails unless every interval and every entry of the query's map is finite and no interval is empty.
absl::Status ValidateQuery(const MeanQuery& query);

/// Fails unless a client can carry out the plan and report on it. The plan may come from anybody, and its
/// bounds determine the client's noise.
absl::Status ValidatePlan(const Plan& plan);

/// Returns the plan that a client was sent, whole or as one part. Fails if the client cannot carry it out.
absl::StatusOr<const Plan*> PlanOf(const Message& message);

/// Hands a player one message, then lets it act until it pulls nothing more. Every driver, simulated or real,
/// runs this loop. `rewards` is scratch space.
template <class AnyPlayer>
absl::Status DriveMessage(AnyPlayer& player, Context& context, const Message& message, SlotWorld& environment,
                          std::vector<RewardSum>& rewards) {
  BANDANA_ASSIGN_OR_RETURN(const Plan* plan, PlanOf(message));
  BANDANA_RETURN_IF_ERROR(player.OnMessage(context, message));
  for (std::span<const Pull> pulls = player.Act(context); !pulls.empty(); pulls = player.Act(context)) {
    rewards.resize(pulls.size());
    BANDANA_RETURN_IF_ERROR(environment.Answer(context.links().self, plan->epoch, pulls, rewards));
    BANDANA_RETURN_IF_ERROR(player.Observe(context, Raw<RewardSums>(rewards)));
  }
  return absl::OkStatus();
}

}  // namespace bandana
