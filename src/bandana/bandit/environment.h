#pragma once

#include <span>
#include <vector>

#include "absl/status/status.h"
#include "bandana/core/reward.h"

namespace bandana {

/// The world as one client meets it. In the lab it is simulated; in a deployment it is whatever the agent
/// serves.
class Environment {
 public:
  virtual ~Environment() = default;

  /// What `client` sees of the pulls of an epoch: one sum a pull, in their order.
  virtual absl::Status Answer(NodeId client, Epoch epoch, std::span<const Pull> pulls,
                              std::span<RewardSum> rewards) = 0;

  /// Whether it can tell what many new clients see in sum, without going through them one by one.
  virtual bool AnswersCrowds() const { return false; }

  /// One pull of `arm` by each of clients first, first + 1, ...: of as many values as a reward takes, so many
  /// clients and their rewards' sum; or all in one sum. The same in distribution as asking each of them.
  virtual absl::Status AnswerCrowd(NodeId first, Count clients, Epoch epoch, ArmId arm,
                                   std::vector<RewardSum>& rewards);
};

}  // namespace bandana
