#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/bandit/reward_model.h"
#include "bandana/bandit/world.h"
#include "bandana/bandit/world_kind.h"
#include "bandana/bandit/worlds/arm_problem.h"
#include "bandana/core/bit_source.h"
#include "bandana/core/generators.h"
#include "bandana/core/options.h"

/// The world "mab", a multi-armed bandit for ticks: agents pull arms that have a mean reward each.
namespace bandana {

/// The parameters of the world, with their options in tables "environment" and "federation".
struct MabParams {
  Count agents = 0;           ///< M
  std::vector<double> means;  ///< of the arms, averaged over agents; empty: drawn uniformly from [0, 1]
  Count actions = 0;          ///< K, if means are drawn
  double gap = 0;             ///< the best mean exceeds the others by at least this, if means are drawn
  double heterogeneous = 0;   ///< how much an arm's mean differs between agents, from 0 to 1; see ArmDraw
  RewardKind reward = RewardKind::kBernoulli;  ///< kBernoulli, or kUniform if no mean is below 1/2
};

OptionsFor<MabParams> MabOptions();

/// Draws the world of a replicate.
absl::StatusOr<std::unique_ptr<World>> MakeMab(const MabParams& params, const WorldDraw& draw);

/// The world "mab" for ticks.
WorldKind MabKind();

/// The world of an ArmProblem's agents. Rewards are in [0, 1]. Each agent's rewards come from its own
/// generator, in the order of its pulls; how the pulls are grouped into calls does not matter. So an agent
/// that is alone in a process gets the same rewards as among all agents. A pull costs one draw, whatever its
/// count (sixteen draws for uniform rewards if the count exceeds one). Different threads may serve different
/// agents.
class ArmWorld final : public SlotWorld {
 public:
  struct Params {
    std::shared_ptr<const ArmProblem> problem;
    RewardKind reward = RewardKind::kBernoulli;
    Count horizon = 0;
    std::uint64_t seed = 0;
    std::uint32_t replicate = 0;
  };

  /// Rewards are bernoulli, or uniform if all means are at least 1/2: their support 2 mean - 1 .. 1 is then
  /// in [0, 1]. The error names the field reward.
  static absl::StatusOr<ArmWorld> Create(Params params);

  const Facts& facts() const override { return facts_; }

  /// Fails if the agent, an arm or a count is out of range. The epoch does not matter.
  absl::Status Answer(NodeId agent, Epoch epoch, std::span<const Pull> pulls,
                      std::span<RewardSum> rewards) override;

  double Gap(ArmId arm) const override { return problem().Gap(arm); }

  /// Saves how far each agent is in its rewards.
  std::string Save() const override;
  absl::Status Restore(std::string_view saved) override;

  const ArmProblem& problem() const { return *params_.problem; }

 private:
  struct Coins {
    explicit Coins(const StreamKey& key) : bits(key), gen(bits) {}
    PhiloxSource bits;
    CoinGen gen;
  };

  explicit ArmWorld(Params params);
  CoinGen& CoinOf(NodeId agent);

  Params params_;
  Facts facts_;
  std::vector<std::unique_ptr<Coins>> coins_;  // by agent, made on first use
};

}  // namespace bandana
