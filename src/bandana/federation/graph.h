#pragma once

#include <compare>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/core/ids.h"

namespace bandana {

/// Between two nodes, in no direction.
struct Edge {
  NodeId a;
  NodeId b;
  auto operator<=>(const Edge&) const = default;
};

/// Who is a neighbour of whom among nodes 1 .. M. Undirected, without self loops and repeated edges, never
/// changed. It need not be connected: CheckConnected asks.
class Graph {
 public:
  static constexpr Count kMostNodes = 1 << 20;
  static constexpr int kUnreachable = std::numeric_limits<int>::max();  ///< farther than any distance

  /// Errors name federation.agents, or federation.topology and the edge: a self loop, one given twice (in
  /// either direction), a node out of range.
  static absl::StatusOr<Graph> Create(Count nodes, std::span<const Edge> edges);

  Count nodes() const { return static_cast<Count>(first_.size()) - 1; }
  Count edges() const { return static_cast<Count>(ends_.size()) / 2; }
  bool Contains(NodeId node) const { return node.value >= 1 && node.value <= nodes(); }

  /// In increasing order.
  std::span<const NodeId> neighbours(NodeId node) const;
  Count degree(NodeId node) const { return static_cast<Count>(neighbours(node).size()); }
  bool adjacent(NodeId a, NodeId b) const;

  /// Every edge once, smaller node first, in increasing order.
  std::vector<Edge> Edges() const;

  /// Hops from a node to node i + 1, at place i; nobody farther than `most` is looked for.
  std::vector<int> Distances(NodeId from, int most = kUnreachable) const;
  int distance(NodeId a, NodeId b) const;

  /// The distance of the farthest node.
  int eccentricity(NodeId node) const;
  /// The largest eccentricity. Takes nodes() * edges() steps.
  int diameter() const;
  bool connected() const;

  /// Neighbours are those at distance 1 .. gamma >= 0 here.
  Graph Power(int gamma) const;

  bool operator==(const Graph&) const = default;

 private:
  Graph(Count nodes, std::span<const Edge> edges);
  std::vector<std::size_t> first_;  // of a node's neighbours in ends_, at place node - 1, and the end
  std::vector<NodeId> ends_;
};

/// An error that names two nodes that cannot reach each other.
absl::Status CheckConnected(const Graph& graph);

/// Nodes that reach each other, each group in increasing order, groups by their first nodes.
std::vector<std::vector<NodeId>> Components(const Graph& graph);

/// The same nodes without these edges (in either direction; those that are not there do not matter) and
/// without any edge of `lost`, who are alone then.
Graph Without(const Graph& graph, std::span<const NodeId> lost, std::span<const Edge> cut);

/// The graphs side by side: nodes of each are numbered on from the last of the graph before it. An error
/// names federation.agents: too many nodes, or none.
absl::StatusOr<Graph> JoinComponents(std::span<const Graph> graphs);

struct GraphCentre {
  NodeId node;
  int eccentricity = 0;
  auto operator<=>(const GraphCentre&) const = default;
};

/// The node of a component (in increasing order, as Components gives it) that is nearest to the farthest of
/// the others, and how near: of several the smallest. P4's Algorithm 4. Takes as many breadth-first
/// searches as the component has nodes, or fewer.
GraphCentre Centre(const Graph& graph, std::span<const NodeId> component);

/// Nodes 1 .. `nodes` and the edges of a file: two node numbers a line, separated by blanks; blank lines and
/// what follows a # are left out. Errors name the file and the line.
absl::StatusOr<Graph> ReadGraph(const std::string& path, Count nodes);

}  // namespace bandana
