#pragma once

#include "absl/status/status.h"
#include "bandana/federation/node.h"

namespace bandana {

/// A role in a network that works in ticks: an agent, a peer, a sink, or their server, which never acts. A
/// driver, simulated or real, calls OnStart of everybody and then does, tick after tick, for every node in
/// the order of ids:
///   OnMessage      for each message that was sent to it in the tick before, in (from, seq) order;
///   Act, Observe   until it pulls nothing more;
///   EndTick        in which it may send.
/// Pulls take time, one slot each, and ticks take none: messages are handed over between two slots. A node
/// that is finished() is called no more.
class NetworkPlayer : public Player {
 public:
  virtual absl::Status EndTick(Context& context) = 0;

  /// Nobody will say anything any more: what is left is played, then it is finished.
  virtual void OnSilence(Context& context) = 0;
};

/// Ticks without a message or a pull after which a driver takes it that nothing will come: more than any
/// message takes from end to end of so many nodes and back.
inline Count QuietTicks(Count nodes) { return 3 * nodes + 16; }

}  // namespace bandana
