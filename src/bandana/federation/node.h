#pragma once

#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/core/reward.h"
#include "bandana/core/savable.h"
#include "bandana/federation/context.h"
#include "bandana/federation/messages.h"
#include "bandana/privacy/raw.h"

namespace bandana {

/// A role: all it does is answer. An error ends the run.
class Node : public Savable {
 public:
  /// At the top of the network (a server), once, before any message; the others begin with their first
  /// message.
  virtual absl::Status OnStart(Context&) { return absl::OkStatus(); }
  virtual absl::Status OnMessage(Context& context, const Message& message) = 0;

  /// Nothing is left to do or to wait for.
  virtual bool finished() const = 0;
};

/// A role that also faces the bandit.
class Player : public Node {
 public:
  /// What to pull now; empty: nothing. Asked after every message. Valid until the next call.
  virtual std::span<const Pull> Act(Context& context) = 0;

  /// What came of the pulls, in their order.
  virtual absl::Status Observe(Context& context, const Raw<RewardSums>& rewards) = 0;
};

}  // namespace bandana
