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
#include "bandana/bandit/round_environment.h"
#include "bandana/federation/round_player.h"
#include "bandana/privacy/guarantee.h"
#include "bandana/privacy/ledger/ledger.h"
#include "bandana/service/randomness.h"

/// A peer over gRPC: one process that plays round by round and talks to its neighbours on a graph in lock
/// step, so that its role sees what it would see in a simulator.
///
/// In round t = 1, 2, ... the role plays, if it does in that round (Act, Observe); takes what its neighbours
/// sent in round t - 1, in (from, seq) order (OnMessage); and ends the round (EndRound). Then every neighbour
/// is sent one packet with what the role has sent it in round t, or with nothing. Messages have `slot` = the
/// round in which they were sent, `seq` = 0, 1, ... over all that this peer sends, and `origin` = the
/// bulletin's or request's own.
namespace bandana::service {

/// Which end of an edge opens its stream: the smaller number, but everybody comes to the server.
inline bool Dials(NodeId self, NodeId neighbour) {
  return neighbour == kServerNode || (self != kServerNode && neighbour > self);
}

struct PeerParams {
  NodeId self;
  std::string listen;  ///< host:port on this machine's loopback; port 0: any
  /// host:port of each neighbour's `listen`. This peer connects to those that it Dials and waits for the
  /// others, whose addresses are not looked at.
  std::map<NodeId, std::string> neighbours;
  Count rounds = 0;  ///< RunPeer alone
  Count nodes = 0;   ///< of the whole network, without its server; RunNetworkNode alone
  std::string spec_digest;
  DpGuarantee budget;
  Ledger* ledger = nullptr;  ///< where charges are kept, durable before packets leave; none: in memory
  std::optional<InsecureSeed> insecure_seed;
  absl::Duration connect_timeout;  ///< for all neighbours together
  /// How long a neighbour may take for a round by itself. It is given up after that, unless it says that it
  /// waits for others.
  absl::Duration silence_timeout;
  std::stop_token stop;  ///< ends the run with kCancelled, at the latest after the role's call at work
  std::function<void(const std::string& address)> on_listening;
};

/// A neighbour that died. What it sent before that round was delivered.
struct LostNeighbour {
  NodeId node;
  Count round = 0;  ///< the first, or the first tick, whose packet did not come
  std::string why;  ///< about its stream; never about data
};

struct PeerReport {
  Count rounds = 0;  ///< or ticks
  Count messages_in = 0;
  Count messages_out = 0;      ///< one for each neighbour that it was sent to
  std::uint64_t bytes_in = 0;  ///< serialized messages, without HTTP/2's framing
  std::uint64_t bytes_out = 0;
  std::vector<LostNeighbour> lost;  ///< by round, then by node
  DpGuarantee spent{0, 0};
  double seconds = 0;  ///< from the first round to the end
};

/// Plays all rounds. A neighbour that dies once the run has begun sends nothing from then on, and the others
/// go on: its stream broke, it said that it cannot go on, it was silent for too long, or it sent what is no
/// message of a peer.
///
/// - kInvalidArgument: an option, by its name.
/// - kFailedPrecondition, kPermissionDenied, kAlreadyExists: a neighbour's reason to refuse this peer, such
/// as
///   another version or digest.
/// - kUnavailable: the port is taken; a neighbour, or a neighbour's neighbour, is not there within
///   connect_timeout.
/// - kCancelled: `stop`.
/// - Any other code: the role's own error, of which neighbours are told the code alone.
absl::StatusOr<PeerReport> RunPeer(const PeerParams& params, RoundPlayer<double>& player, RoundWorld& world);

}  // namespace bandana::service
