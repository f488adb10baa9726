#pragma once

#include "absl/status/status.h"
#include "bandana/federation/node.h"

namespace bandana {

/// A role in a network that works in ticks: an agent, a peer, a sink, or their server, which never acts. A
/// driver, simulated or real, first calls every node's OnStart. Then, tick after tick, it makes these calls
/// to every node, in the order of ids:
///   OnMessage      for each message that was sent to it in the previous tick, in (from, seq) order;
///   Act, Observe   until it pulls nothing more;
///   EndTick        in which it may send.
///
/// A pull takes one slot of time. A tick takes none: messages are delivered between two slots. A node that is
/// finished() is not called any more.
class NetworkPlayer : public Player {
 public:
  virtual absl::Status EndTick(Context& context) = 0;

  /// Returns whether the pulls of the last Act are made while messages are on their way.
  virtual bool waiting() const { return false; }

  /// Tells the role that no message will come any more. It plays its remaining rounds and is then finished.
  virtual void OnSilence(Context& context) = 0;
};

/// Returns after how many ticks without a message or a pull a driver concludes that nothing more will come.
/// It is more than any message needs from one end of the network to the other and back.
inline Count QuietTicks(Count nodes) { return 3 * nodes + 16; }

}  // namespace bandana
