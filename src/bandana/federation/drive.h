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

/// Hands a player one message, then lets it act for as long as it wants to: the loop of every driver,
/// simulated or real. `rewards` is scratch space.
template <class AnyPlayer>
absl::Status DriveMessage(AnyPlayer& player, Context& context, const Message& message,
                          Environment& environment, std::vector<RewardSum>& rewards) {
  const auto* plan = std::get_if<std::shared_ptr<const Plan>>(&message.body);
  if (plan == nullptr) return absl::InvalidArgumentError("a client takes plans alone");
  BANDANA_RETURN_IF_ERROR(ValidatePlan(**plan));
  BANDANA_RETURN_IF_ERROR(player.OnMessage(context, message));
  for (std::span<const Pull> pulls = player.Act(context); !pulls.empty(); pulls = player.Act(context)) {
    rewards.resize(pulls.size());
    BANDANA_RETURN_IF_ERROR(environment.Answer(context.links().self, (*plan)->epoch, pulls, rewards));
    BANDANA_RETURN_IF_ERROR(player.Observe(context, Raw<RewardSums>(rewards)));
  }
  return absl::OkStatus();
}

}  // namespace bandana
