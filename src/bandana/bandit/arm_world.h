#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/bandit/arm_problem.h"
#include "bandana/bandit/environment.h"
#include "bandana/bandit/reward_model.h"
#include "bandana/core/bit_source.h"
#include "bandana/core/generators.h"

namespace bandana {

/// What the agents of an ArmProblem meet: rewards in [0, 1]. An agent's rewards come out of one generator of
/// its own, in the order of its pulls, however they are put together into calls: an agent alone in a process
/// meets what it meets among all. A pull costs one draw whatever its count (sixteen of uniform rewards, if
/// more than one). Different agents may be answered by different threads.
class ArmWorld final : public Environment {
 public:
  struct Params {
    std::shared_ptr<const ArmProblem> problem;
    RewardKind reward = RewardKind::kBernoulli;
    std::uint64_t seed = 0;
    std::uint32_t replicate = 0;
  };

  /// Rewards are bernoulli, or uniform where all means are 1/2 and more: their support 2 mean - 1 .. 1 is in
  /// [0, 1] then. The error names environment.reward.
  static absl::StatusOr<ArmWorld> Create(Params params);

  /// Fails for an agent, an arm or a count that there is none of. The epoch does not matter.
  absl::Status Answer(NodeId agent, Epoch epoch, std::span<const Pull> pulls,
                      std::span<RewardSum> rewards) override;

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
  std::vector<std::unique_ptr<Coins>> coins_;  // by agent, made on first use
};

}  // namespace bandana
