#pragma once

#include <algorithm>

#include "bandana/core/distributions.h"
#include "bandana/federation/failure.h"
#include "bandana/sim/sim_context.h"
#include "bandana/sim/simulate.h"

namespace bandana::sim {

/// Decides which messages between agents and their controller are lost. The coins are keyed by (seed,
/// replicate, agent, sync), so that the order of calls does not matter. `randomness` must outlive it.
class MessageLosses {
 public:
  enum class Fate { kArrives, kLost, kAgentIsLost };

  MessageLosses(const SimulateOptions& options, const SimRandomness& randomness)
      : options_(&options), randomness_(&randomness) {}

  /// Returns what happens to a message of sync number `sync` between the controller and `agent`.
  Fate Judge(NodeId agent, bool from_agent, Epoch sync) {
    bool lost = false;
    for (const Failure& failure : options_->failures) {
      switch (failure.kind) {
        case Failure::Kind::kAgent:
          if (failure.a != agent || sync <= failure.round) break;
          ++count_;
          return Fate::kAgentIsLost;
        case Failure::Kind::kLink:
          lost = lost || (std::min(failure.a, failure.b) == kServerNode &&
                          std::max(failure.a, failure.b) == agent && sync > failure.round);
          break;
        case Failure::Kind::kMiss:
          lost = lost || (from_agent && failure.a == agent && failure.round == sync);
          break;
      }
    }
    lost = lost || (from_agent && options_->dropout > 0 && Misses(agent, sync));
    if (lost) ++count_;
    return lost ? Fate::kLost : Fate::kArrives;
  }

  Count count() const { return count_; }  ///< messages that were lost

 private:
  bool Misses(NodeId agent, Epoch sync) const {
    PhiloxSource bits(randomness_->Key(agent, sync, Stream::kDropout));
    CoinGen coin(bits);
    return UniformUnit(coin) < options_->dropout;
  }

  const SimulateOptions* options_;
  const SimRandomness* randomness_;
  Count count_ = 0;
};

}  // namespace bandana::sim
