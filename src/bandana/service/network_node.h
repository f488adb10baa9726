#pragma once

#include "absl/status/statusor.h"
#include "bandana/bandit/world.h"
#include "bandana/federation/network_player.h"
#include "bandana/service/peer.h"

namespace bandana::service {

/// Runs a node of a network that works in ticks (federation/network_player.h), over gRPC: an agent, a peer,
/// or their server, which is node 0. Each is a process, in lock step with its neighbours, so that its role
/// sees what it would see in a simulator.
///
/// Nodes 1 .. params.nodes are agents. Their neighbours are those on their graph and, if there is a server,
/// node 0. The server's neighbours are all agents. `listen` may be empty if no neighbour dials this node.
/// OnStart comes first, and what it sends has `slot` = 0. What is sent in tick t has slot t and is taken in
/// tick t + 1. `seq` counts 0, 1, ... over all that this node sends.
///
/// A finished node tells its neighbours with its last packet, and they no longer wait for it. A node that
/// dies is lost, and the others go on; RunPeer describes this and the errors. If a node has received nothing
/// and done nothing for more than QuietTicks ticks, no message can come any more. It is then told (OnSilence)
/// and plays its remaining rounds. It is an error if it is still not finished after that.
absl::StatusOr<PeerReport> RunNetworkNode(const PeerParams& params, NetworkPlayer& player,
                                          SlotWorld& environment);

}  // namespace bandana::service
