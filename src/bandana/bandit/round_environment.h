#pragma once

#include "bandana/bandit/decision_set.h"
#include "bandana/core/ids.h"

namespace bandana {

/// The world as agents meet it round by round. In the lab it is simulated; in a deployment it is whatever the
/// agent serves.
class RoundWorld {
 public:
  virtual ~RoundWorld() = default;

  /// What `agent` may choose from. Valid until the next call.
  virtual const DecisionSet<double>& Set(NodeId agent, Count round) = 0;

  /// What comes of it: `arm` is one of the Set of the same agent and round, which was asked for last.
  virtual double Reward(NodeId agent, Count round, ArmId arm) = 0;
};

}  // namespace bandana
