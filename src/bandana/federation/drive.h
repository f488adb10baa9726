#pragma once

#include <vector>

#include "absl/status/status.h"
#include "bandana/bandit/environment.h"
#include "bandana/core/status.h"
#include "bandana/federation/node.h"

namespace bandana {

/// That every coordinate of a query has an interval.
absl::Status ValidateQuery(const MeanQuery& query);

/// That a plan can be carried out and reported on, whoever sent it: a client's noise is set by these bounds.
absl::Status ValidatePlan(const Plan& plan);

/// The plan that a client is sent, whole or a part of it, if it can be carried out.
absl::StatusOr<const Plan*> PlanOf(const Message& message);

/// Hands a player one message, then lets it act for as long as it wants to: the loop of every driver,
/// simulated or real. `rewards` is scratch space.
template <class AnyPlayer>
absl::Status DriveMessage(AnyPlayer& player, Context& context, const Message& message,
                          Environment& environment, std::vector<RewardSum>& rewards) {
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
