#pragma once

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "bandana/core/generators.h"
#include "bandana/core/ids.h"
#include "bandana/privacy/guarantee.h"
#include "bandana/privacy/local_message.h"
#include "bandana/privacy/local_record.h"

namespace bandana {

/// A user's only door to randomness; a role has a Context instead. The simulator and the service each
/// implement it.
class UserContext {
 public:
  virtual ~UserContext() = default;

  /// Replayable coins, for exploration.
  virtual CoinGen& coin() = 0;

 private:
  friend class Release;

  /// The only way to privacy noise, and only for federation/release.h. Charges `cost` to each of the `users`
  /// whose data the message holds, draws once, and keeps the message where it may be asked for again. Draws
  /// nothing if the charge is refused. 0 users: the message protects nobody and costs nothing (model none).
  virtual absl::Status ReleaseOnce(const DpGuarantee& cost, Count users, LocalMessage& message,
                                   absl::FunctionRef<void(NoiseGen&)> draw) = 0;

  /// Counts records outside their bounds, in simulations alone: the counts are raw. Null elsewhere.
  virtual RangeCounts* range_counts() { return nullptr; }
};

}  // namespace bandana
