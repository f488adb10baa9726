#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "bandana/bandit/contextual_problem.h"
#include "bandana/bandit/reward_model.h"
#include "bandana/bandit/world.h"

namespace bandana {

/// Clients 1 .. size that meet contexts. A pull of arm j means that a client plays PickAction(context,
/// theta_j) in its own context, and earns a reward of mean <phi, theta*>. Over the contexts the mean is
/// <g(theta_j), theta*>. Every pull has a new context.
class ContextualPopulation final : public SlotWorld {
 public:
  struct Params {
    std::shared_ptr<const ContextualProblem> problem;
    RewardModel reward;
    Count size = 0;
    std::uint64_t seed = 0;
    std::uint32_t replicate = 0;
    Count horizon = 0;             ///< for facts()
    std::vector<Note> notes = {};  ///< for facts()
  };

  /// Fails if some action of some context has a mean outside the reward model's range.
  static absl::StatusOr<ContextualPopulation> Create(Params params);

  const Facts& facts() const override { return facts_; }
  double Gap(ArmId arm) const override { return params_.problem->linear().Gap(arm); }
  bool IsBest(ArmId arm) const override { return arm == params_.problem->linear().best(); }
  const ContextualProblem& problem() const { return *params_.problem; }

  absl::Status Answer(NodeId client, Epoch epoch, std::span<const Pull> pulls,
                      std::span<RewardSum> rewards) override;

  /// Returns whether rewards have two values and g is exact. Over contexts, such a reward still has two
  /// values, with mean <g(theta_j), theta*>, so the sum over many clients is one binomial draw.
  bool AnswersGroups() const override;
  absl::Status AnswerGroup(NodeId first, Count clients, Epoch epoch, ArmId arm,
                           std::vector<RewardSum>& rewards) override;

  /// Draws the context of a client's first pull in an epoch into a K x d matrix.
  void DrawContext(NodeId client, Epoch epoch, ActionMatrix& context) const;

 private:
  explicit ContextualPopulation(Params params);
  absl::Status CheckArm(ArmId arm) const;

  Params params_;
  Facts facts_;
  Interval means_;
  ActionMatrix context_;
};

}  // namespace bandana
