#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "bandana/bandit/contextual_problem.h"
#include "bandana/bandit/environment.h"
#include "bandana/bandit/reward_model.h"

namespace bandana {

/// Clients 1 .. size who meet contexts. A pull of arm j is a client that plays PickAction(context, theta_j)
/// in a context of its own and earns a reward of mean <phi, theta*>; marginally, of mean <g(theta_j),
/// theta*>. Every pull has a new context.
class ContextualPopulation final : public Environment {
 public:
  struct Params {
    std::shared_ptr<const ContextualProblem> problem;
    RewardModel reward;
    Count size = 0;
    std::uint64_t seed = 0;
    std::uint32_t replicate = 0;
  };

  /// Fails if some action of some context has a mean outside the reward model's range.
  static absl::StatusOr<ContextualPopulation> Create(Params params);

  absl::Status Answer(NodeId client, Epoch epoch, std::span<const Pull> pulls,
                      std::span<RewardSum> rewards) override;

  /// With two-point rewards and an exact g: over contexts such a reward is still of two points, with mean
  /// <g(theta_j), theta*>, so that a crowd's sum is one binomial.
  bool AnswersCrowds() const override;
  absl::Status AnswerCrowd(NodeId first, Count clients, Epoch epoch, ArmId arm,
                           std::vector<RewardSum>& rewards) override;

  /// The context of a client's first pull in an epoch, into a K x d matrix.
  void DrawContext(NodeId client, Epoch epoch, ActionMatrix& context) const;

 private:
  explicit ContextualPopulation(Params params);
  absl::Status CheckArm(ArmId arm) const;

  Params params_;
  Interval means_;
  ActionMatrix context_;
};

}  // namespace bandana
