#pragma once

#include "absl/status/status.h"
#include "bandana/bandit/decision_set.h"
#include "bandana/federation/context.h"
#include "bandana/federation/messages.h"
#include "bandana/federation/role.h"
#include "bandana/privacy/chosen_arm.h"
#include "bandana/privacy/raw.h"

namespace bandana {

/// A role that meets its own decision set in every round: an agent of a controller, or a peer. The set holds
/// the contexts of one person. It is sealed, and so are the arm that is chosen from it and the reward. A
/// driver, simulated or real, makes these calls for every round t = 1, 2, ...:
///   Act, Observe                 if the agent plays in that round;
///   OnMessage                    once for every message that has arrived, in (origin, seq) order;
///   EndRound                     in which it may send: what a peer sends in round t arrives in round t + 1.
///
/// An agent of a controller plays on while rounds_ready() > 0, and then waits for the next Model.
template <class Scalar>
class RoundPlayer : public Role {
 public:
  virtual absl::Status OnMessage(Context& context, const Message& message) = 0;

  /// Returns how many rounds it can end before it must receive a message. 0: none, or the run is over.
  virtual Count rounds_ready() const = 0;

  /// Returns whether it plays in this round. An agent may play in fewer rounds than the clock counts.
  virtual bool Plays(Count round) const = 0;

  /// Returns the arm that it pulls, chosen with Turn::Choose. Valid until the next call.
  virtual const ChosenArm& Act(Context& context, Count round, const Raw<DecisionSet<Scalar>>& set) = 0;

  /// Takes the reward of the pull.
  virtual absl::Status Observe(Context& context, Count round, const Raw<double>& reward) = 0;

  virtual absl::Status EndRound(Context& context, Count round) = 0;
};

}  // namespace bandana
