#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "bandana/bandit/environment.h"
#include "bandana/bandit/linear_problem.h"
#include "bandana/bandit/reward_model.h"

namespace bandana {

/// Clients 1 .. size, each with a parameter of its own, theta_u = theta + xi_u, xi_u ~ N(0, client_sd^2 I):
/// P1's population. Under a link other than the identity client_sd is 0: the mean over clients of
/// mu(<theta_u, x>) is not mu(<theta, x>). A whole plan is answered in O(pulls), however often each arm is
/// played.
class LinearPopulation final : public Environment {
 public:
  enum class Path { kSums, kPulls };  ///< one draw a sum; or one draw a reward, to test the former against

  struct Params {
    std::shared_ptr<const LinearProblem> problem;
    RewardModel reward;
    double client_sd = 0;
    Count size = 0;
    std::uint64_t seed = 0;
    std::uint32_t replicate = 0;
    Path path = Path::kSums;
  };

  static absl::StatusOr<LinearPopulation> Create(Params params);

  /// Fails if a mean of this client is outside the reward model's range.
  absl::Status Answer(NodeId client, Epoch epoch, std::span<const Pull> pulls,
                      std::span<RewardSum> rewards) override;

  /// Clients without a spread of their own whose rewards have bounds.
  bool AnswersCrowds() const override;
  absl::Status AnswerCrowd(NodeId first, Count clients, Epoch epoch, ArmId arm,
                           std::vector<RewardSum>& rewards) override;

 private:
  explicit LinearPopulation(Params params);
  void DrawParameter(NodeId client);
  bool InRange(double mean) const;
  absl::Status MeanOutOfRange(NodeId client, ArmId arm, double mean) const;

  Params params_;
  Interval means_;
  Vector client_theta_;
};

}  // namespace bandana
