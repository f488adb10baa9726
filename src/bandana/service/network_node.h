#pragma once

#include "absl/status/statusor.h"
#include "bandana/bandit/environment.h"
#include "bandana/federation/network_player.h"
#include "bandana/service/peer.h"

namespace bandana::service {

/// A node of a network that works in ticks (federation/network_player.h), over gRPC: an agent, a peer, or
/// their server, which is node 0. Each is a process, in lock step with its neighbours, so that its role sees
/// what it would see in a simulator.
///
/// Nodes 1 .. params.nodes are agents, whose neighbours are those on their graph and, under a server, node 0;
/// the server's neighbours are all agents. `listen` may be empty where no neighbour dials this node. OnStart
/// comes first, and what it sends has `slot` = 0; what is sent in tick t has slot t, and is taken in tick t +
/// 1. `seq` is 0, 1, ... over all that this node sends.
///
/// A node that is finished says so to its neighbours, with its last packet, and they no longer wait for it.
/// One that dies is lost: see RunPeer, also for errors; the others go on. A node that has heard nothing and
/// done nothing for as many ticks as it takes to be sure that nobody will say anything, whether its
/// neighbours are gone, finished or as clueless as itself, is told (OnSilence) and plays what is left: to be
/// unfinished after that is an error.
absl::StatusOr<PeerReport> RunNetworkNode(const PeerParams& params, NetworkPlayer& player,
                                          Environment& environment);

}  // namespace bandana::service
