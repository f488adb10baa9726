#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "bandana/bandit/linear_problem.h"
#include "bandana/bandit/reward_model.h"
#include "bandana/bandit/world.h"

namespace bandana {

/// P1's population: clients 1 .. size, each with its own parameter theta_u = theta + xi_u, xi_u ~ N(0,
/// client_sd^2 I). Regret is against theta: the mean reward of x is mu(<theta, x>), which is not the mean
/// over clients of mu(<theta_u, x>) if the link mu is not the identity. Answering a whole plan takes
/// O(pulls), however often each arm is played.
class LinearPopulation final : public SlotWorld {
 public:
  /// kSums: one draw per sum. kPulls: one draw per reward, to test the former.
  enum class Path { kSums, kPulls };

  struct Params {
    std::shared_ptr<const LinearProblem> problem;
    RewardModel reward;
    double client_sd = 0;
    Count size = 0;
    std::uint64_t seed = 0;
    std::uint32_t replicate = 0;
    Count horizon = 0;                   ///< for facts()
    std::optional<double> reward_bound;  ///< for facts()
    Path path = Path::kSums;
  };

  static absl::StatusOr<LinearPopulation> Create(Params params);

  const Facts& facts() const override { return facts_; }
  double Gap(ArmId arm) const override { return params_.problem->Gap(arm); }
  bool IsBest(ArmId arm) const override { return arm == params_.problem->best(); }
  const LinearProblem& problem() const { return *params_.problem; }

  /// Fails if a mean of this client is outside the reward model's range.
  absl::Status Answer(NodeId client, Epoch epoch, std::span<const Pull> pulls,
                      std::span<RewardSum> rewards) override;

  /// Returns whether clients do not differ and their rewards are bounded.
  bool AnswersGroups() const override;
  absl::Status AnswerGroup(NodeId first, Count clients, Epoch epoch, ArmId arm,
                           std::vector<RewardSum>& rewards) override;

 private:
  explicit LinearPopulation(Params params);
  void DrawParameter(NodeId client);
  bool InRange(double mean) const;
  absl::Status MeanOutOfRange(NodeId client, ArmId arm, double mean) const;

  Params params_;
  Facts facts_;
  Interval means_;
  Vector client_theta_;
};

}  // namespace bandana
