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

/// An undirected edge between two nodes.
struct Edge {
  NodeId a;
  NodeId b;
  auto operator<=>(const Edge&) const = default;
};

/// An undirected graph on nodes 1 .. M, without self loops and repeated edges. It is immutable. It need not
/// be connected; CheckConnected tells.
class Graph {
 public:
  static constexpr Count kMostNodes = 1 << 20;
  static constexpr int kUnreachable = std::numeric_limits<int>::max();  ///< larger than any distance

  /// Fails if the number of nodes is out of range (the error names `people`) or an edge is wrong (it
  /// names `topology` and the edge): a self loop, an edge given twice in either direction, a node
  /// out of range.
  static absl::StatusOr<Graph> Create(Count nodes, std::span<const Edge> edges);

  Count nodes() const { return static_cast<Count>(first_.size()) - 1; }
  Count edges() const { return static_cast<Count>(ends_.size()) / 2; }
  bool Contains(NodeId node) const { return node.value >= 1 && node.value <= nodes(); }

  /// The neighbours are in increasing order.
  std::span<const NodeId> neighbours(NodeId node) const;
  Count degree(NodeId node) const { return static_cast<Count>(neighbours(node).size()); }
  bool adjacent(NodeId a, NodeId b) const;

  /// Returns every edge once, smaller node first, in increasing order.
  std::vector<Edge> Edges() const;

  /// Returns the number of hops from `from` to each node; node i + 1 is at index i. Nodes farther than `most`
  /// hops are kUnreachable.
  std::vector<int> Distances(NodeId from, int most = kUnreachable) const;
  int distance(NodeId a, NodeId b) const;

  /// Returns the distance to the farthest node.
  int eccentricity(NodeId node) const;
  /// Returns the largest eccentricity. Takes nodes() * edges() steps.
  int diameter() const;
  bool connected() const;

  /// Returns the graph in which two nodes are neighbours if their distance here is 1 .. gamma; gamma >= 0.
  Graph Power(int gamma) const;

  bool operator==(const Graph&) const = default;

 private:
  Graph(Count nodes, std::span<const Edge> edges);
  // Node i's neighbours are ends_[first_[i - 1]] .. ends_[first_[i] - 1].
  std::vector<std::size_t> first_;
  std::vector<NodeId> ends_;
};

/// Fails if the graph is not connected; the error names two nodes that cannot reach each other.
absl::Status CheckConnected(const Graph& graph);

/// Returns the connected components. Each is in increasing order, and the components are ordered by their
/// first nodes.
std::vector<std::vector<NodeId>> Components(const Graph& graph);

/// Returns the graph without the edges in `cut` (in either direction; absent edges are ignored) and without
/// any edge of the nodes in `lost`. The nodes stay, so those in `lost` are isolated.
Graph Without(const Graph& graph, std::span<const NodeId> lost, std::span<const Edge> cut);

/// Returns the disjoint union of the graphs. The nodes of each graph are numbered after those of the graph
/// before it. Fails if there are too many nodes, or none; the error names `people`.
absl::StatusOr<Graph> JoinComponents(std::span<const Graph> graphs);

struct GraphCentre {
  NodeId node;
  int eccentricity = 0;
  auto operator<=>(const GraphCentre&) const = default;
};

/// Returns the node of a component with the smallest eccentricity, and that eccentricity; among several
/// nodes, the one with the smallest id. This is P4's Algorithm 4. The component is in increasing order, as
/// Components returns it. Takes at most one breadth-first search per node of the component.
GraphCentre Centre(const Graph& graph, std::span<const NodeId> component);

/// Reads the edges of a graph on nodes 1 .. `nodes` from a file with two node numbers per line, separated by
/// blanks. Blank lines and everything after a # are ignored. Errors name the file and the line.
absl::StatusOr<Graph> ReadGraph(const std::string& path, Count nodes);

}  // namespace bandana
