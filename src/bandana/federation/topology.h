#pragma once

#include <optional>
#include <vector>

#include "bandana/core/ids.h"
#include "bandana/privacy/privatizer.h"

namespace bandana {

/// A role's view of the network.
struct Links {
  NodeId self;
  std::optional<NodeId>
      upstream;  ///< where reports go: server, shuffler, sink; none at the top and among peers
  std::vector<NodeId> peers;
  std::optional<NodeId> shuffler = std::nullopt;  ///< at a server whose reports come through one
};

/// Who is linked to whom, as data: both drivers wire roles from it.
class Topology {
 public:
  /// Node 0 serves clients 1 .. clients.
  static Topology Star(Count clients) { return Topology(clients, false); }

  /// The same with a shuffler on the way up: plans come from the server, reports go through kShufflerNode.
  static Topology ShuffledStar(Count clients) { return Topology(clients, true); }

  Count clients() const { return clients_; }
  bool shuffled() const { return shuffled_; }
  bool Contains(NodeId node) const { return node.value <= clients_ || (shuffled_ && node == kShufflerNode); }

  Links LinksOf(NodeId node) const {
    Links links{.self = node};
    if (node == kServerNode) {
      if (shuffled_) links.shuffler = kShufflerNode;
    } else {
      links.upstream = shuffled_ && node != kShufflerNode ? kShufflerNode : kServerNode;
    }
    return links;
  }

 private:
  Topology(Count clients, bool shuffled) : clients_(clients), shuffled_(shuffled) {}
  Count clients_;
  bool shuffled_;
};

/// The star that a privatizer needs.
template <Privatizer P>
Topology TopologyFor(Count clients) {
  return ShufflePrivatizer<P> ? Topology::ShuffledStar(clients) : Topology::Star(clients);
}

}  // namespace bandana
