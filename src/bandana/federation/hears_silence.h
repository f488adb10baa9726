#pragma once

#include "absl/status/status.h"
#include "bandana/core/ids.h"
#include "bandana/federation/context.h"

namespace bandana {

/// A role of rounds that goes on if messages are lost. A driver that loses messages calls ExpectLosses before
/// anything else, and OnSilence at the end of a round after which no more messages come.
class HearsSilence {
 public:
  virtual ~HearsSilence() = default;

  /// Prepares for losses. Without this call the role may wait for every message.
  virtual void ExpectLosses() {}

  /// Does without the messages that it waits for. `round` is the round that has ended.
  virtual absl::Status OnSilence(Context& context, Count round) = 0;
};

}  // namespace bandana
