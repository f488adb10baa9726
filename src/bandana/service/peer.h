#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bandana/bandit/world.h"
#include "bandana/federation/round_player.h"
#include "bandana/privacy/guarantee.h"
#include "bandana/service/deployed.h"
#include "bandana/service/randomness.h"

/// A peer over gRPC: one process that plays round by round and exchanges messages with its neighbours on a
/// graph in lock step. So its role sees what it would see in a simulator.
///
/// In round t = 1, 2, ... the role plays, if it plays in that round (Act, Observe); takes what its neighbours
/// sent in round t - 1, in (from, seq) order (OnMessage); and ends the round (EndRound). Then every neighbour
/// gets one packet with what the role has sent it in round t, which may be empty. In a message, `slot` is the
/// round in which it was sent, `seq` counts 0, 1, ... over all that this peer sends, and `origin` is that of
/// the bulletin or request.
namespace bandana::service {

/// Returns whether `self` opens the stream to `neighbour`. The node with the smaller id does, but all nodes
/// dial the server.
inline bool Dials(NodeId self, NodeId neighbour) {
  return neighbour == kServerNode || (self != kServerNode && neighbour > self);
}

struct PeerParams {
  NodeId self;
  std::string listen;  ///< host:port; without keys a loopback address; port 0: any
  /// host:port of each neighbour's `listen`. This peer connects to those that it Dials and waits for the
  /// others, whose addresses are ignored.
  std::map<NodeId, std::string> neighbours;
  Count rounds = 0;  ///< only for RunPeer
  Count nodes = 0;   ///< the number of nodes in the network, without its server; only for RunNetworkNode
  std::string spec_digest;
  DpGuarantee budget;
  std::optional<InsecureSeed> insecure_seed;
  absl::Duration connect_timeout;  ///< the limit for all neighbours together
  std::stop_token stop;  ///< ends the run with kCancelled, at the latest after the current call of the role
  std::function<void(const std::string& address)> on_listening;
  Deployed deployed = {};
};

/// A neighbour that died. What it sent before `round` was delivered.
struct LostNeighbour {
  NodeId node;
  Count round = 0;  ///< the first round or tick whose packet did not come
  std::string why;  ///< about its stream; never about data
};

struct PeerReport {
  Count rounds = 0;  ///< rounds or ticks
  Count messages_in = 0;
  Count messages_out = 0;      ///< one for each neighbour to which a message was sent
  std::uint64_t bytes_in = 0;  ///< serialized messages, without HTTP/2's framing
  std::uint64_t bytes_out = 0;
  std::vector<LostNeighbour> lost;  ///< by round, then by node
  DpGuarantee spent{0, 0};
  double seconds = 0;  ///< from the first round to the end
};

/// Plays all rounds. If a neighbour dies after the run has begun, it sends nothing more, and the others go
/// on. A neighbour counts as dead if its connection broke (with a store: if it was away for longer than
/// `deployed.silence`), if it said that it cannot go on, or if it sent something that is not a message of a
/// peer.
///
///   - kInvalidArgument: an option is wrong; the error names it.
///   - kFailedPrecondition, kPermissionDenied, kAlreadyExists: a neighbour refused this peer, for example
///     because its version or digest differs.
///   - kUnavailable: the port is taken; or a neighbour, or a neighbour's neighbour, is not there within
///     connect_timeout.
///   - kCancelled: `stop`.
///   - Any other code: the role's own error, of which neighbours are told only the code.
absl::StatusOr<PeerReport> RunPeer(const PeerParams& params, RoundPlayer<double>& player, RoundWorld& world);

}  // namespace bandana::service
