#pragma once

#include <span>

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

  /// Whether AnswerCrowd can be asked.
  virtual bool AnswersCrowds() const { return false; }

  /// The sum of one pull of `arm` by each of `clients` new clients, first, first + 1, ...
  virtual absl::Status AnswerCrowd(NodeId /*first*/, Count /*clients*/, Epoch /*epoch*/, ArmId /*arm*/,
                                   RewardSum& /*rewards*/) {
    return absl::UnimplementedError("this environment answers client by client");
  }
};

}  // namespace bandana
