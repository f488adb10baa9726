#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "bandana/core/ids.h"
#include "bandana/federation/graph.h"
#include "bandana/privacy/privatizer.h"

namespace bandana {

/// A role's view of the network.
struct Links {
  NodeId self = {};
  /// Where reports go: a server, a shuffler or a sink. Servers and peers have none.
  std::optional<NodeId> upstream = {};
  std::vector<NodeId> peers = {};
  std::optional<NodeId> shuffler = std::nullopt;  ///< set only for a server whose reports pass a shuffler
};

/// Defines who is linked to whom. Both drivers connect the roles by it.
class Topology {
 public:
  /// The server, node 0, serves clients 1 .. clients.
  static Topology Star(Count clients) { return Topology(clients, false); }

  /// A star whose reports pass a shuffler: plans come from the server, reports go through kShufflerNode.
  static Topology ShuffledStar(Count clients) { return Topology(clients, true); }

  /// Peers 1 .. M, the nodes of the graph. There is no server.
  static Topology Peers(Graph graph) { return Topology(std::move(graph), false); }

  /// Agents 1 .. M, the nodes of the graph, each of which is also linked to the server, node 0.
  static Topology PeersWithServer(Graph graph) { return Topology(std::move(graph), true); }

  Topology() = default;

  Count clients() const { return clients_; }
  bool has_server() const { return server_; }
  const Graph* graph() const { return graph_.get(); }  ///< of peers; null: a star
  bool shuffled() const { return shuffled_; }
  bool Contains(NodeId node) const { return node.value <= clients_ || (shuffled_ && node == kShufflerNode); }

  Links LinksOf(NodeId node) const {
    Links links{.self = node};
    if (node == kServerNode) {
      if (shuffled_) links.shuffler = kShufflerNode;
      return links;
    }
    if (graph_ != nullptr) {
      const auto neighbours = graph_->neighbours(node);
      links.peers.assign(neighbours.begin(), neighbours.end());
    }
    if (server_) links.upstream = shuffled_ && node != kShufflerNode ? kShufflerNode : kServerNode;
    return links;
  }

 private:
  Topology(Count clients, bool shuffled) : clients_(clients), shuffled_(shuffled) {}
  Topology(Graph graph, bool server)
      : clients_(graph.nodes()), server_(server), graph_(std::make_shared<const Graph>(std::move(graph))) {}

  Count clients_ = 0;
  bool shuffled_ = false;
  bool server_ = true;
  std::shared_ptr<const Graph> graph_;
};

/// Returns the star that a privatizer needs.
template <Privatizer P>
Topology TopologyFor(Count clients) {
  return ShufflePrivatizer<P> ? Topology::ShuffledStar(clients) : Topology::Star(clients);
}

}  // namespace bandana
