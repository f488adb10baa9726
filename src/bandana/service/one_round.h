#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/bandit/decision_block.h"
#include "bandana/bandit/world.h"
#include "bandana/core/status.h"
#include "bandana/federation/played_arm.h"
#include "bandana/federation/round_player.h"

namespace bandana::service {

/// A world as an agent meets it, one round after the other: the next round of a real world is not known yet.
class OneRound {
 public:
  /// Fails unless the world says how many arms a round has, and their dimension. It must outlive this object.
  static absl::StatusOr<OneRound> Create(RoundWorld& world) {
    const Facts& facts = world.facts();
    for (const auto& [field, value] : {std::pair("arms", facts.arms), {"dimension", facts.dimension}}) {
      if (value >= 1) continue;
      return InvalidField(Part::kFacts, field, static_cast<double>(value), "a whole number >= 1");
    }
    return OneRound(world);
  }

  /// The player acts in a round of `agent` and observes the reward, if it plays in that round.
  absl::Status Play(RoundPlayer<double>& player, Context& context, NodeId agent, Count round) {
    if (!player.Plays(round)) return absl::OkStatus();
    world_->Fill(agent, round, block_);
    const ArmId arm = PlayedArm::Of(player.Act(context, round, Raw(block_.set(0))));
    return player.Observe(context, round, Raw<double>(world_->Reward(block_, agent, 0, arm)));
  }

 private:
  explicit OneRound(RoundWorld& world)
      : world_(&world), block_(1, world.facts().arms, world.facts().dimension) {}

  RoundWorld* world_;
  DecisionBlock<double> block_;
};

}  // namespace bandana::service
