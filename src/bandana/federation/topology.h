#pragma once

#include <optional>
#include <vector>

#include "bandana/core/ids.h"

namespace bandana {

/// A role's view of the network.
struct Links {
  NodeId self;
  std::optional<NodeId> upstream;  ///< server, sink or controller; none at the top and among peers
  std::vector<NodeId> peers;
};

/// Who is linked to whom, as data: both drivers wire roles from it.
class Topology {
 public:
  /// Node 0 serves clients 1 .. clients.
  static Topology Star(Count clients) { return Topology(clients); }

  Count clients() const { return clients_; }
  bool Contains(NodeId node) const { return node.value <= clients_; }

  Links LinksOf(NodeId node) const {
    if (node == kServerNode) return {.self = node, .upstream = std::nullopt, .peers = {}};
    return {.self = node, .upstream = kServerNode, .peers = {}};
  }

 private:
  explicit Topology(Count clients) : clients_(clients) {}
  Count clients_;
};

}  // namespace bandana
