#pragma once

#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/core/reward.h"
#include "bandana/federation/context.h"
#include "bandana/federation/messages.h"
#include "bandana/federation/role.h"
#include "bandana/privacy/raw.h"

namespace bandana {

/// A role. It acts only when it is called. An error ends the run.
class Node : public Role {
 public:
  /// Called once before any message, at the top of the network (a server). Other roles start with their first
  /// message.
  virtual absl::Status OnStart(Context&) { return absl::OkStatus(); }
  virtual absl::Status OnMessage(Context& context, const Message& message) = 0;

  /// The time for answers in this epoch is over. Returns whether those that have come were enough to go on.
  virtual absl::StatusOr<bool> OnDeadline(Context&, Epoch) { return false; }

  /// Returns whether nothing is left to do or to wait for.
  virtual bool finished() const = 0;
};

/// A role that also plays the bandit.
class Player : public Node {
 public:
  /// Returns what to pull now; empty means nothing. Called after every message. The span is valid until the
  /// next call.
  virtual std::span<const Pull> Act(Context& context) = 0;

  /// Takes the rewards of the pulls, in their order.
  virtual absl::Status Observe(Context& context, const Raw<RewardSums>& rewards) = 0;
};

}  // namespace bandana
