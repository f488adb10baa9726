#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "bandana/federation/graph.h"

namespace bandana {

/// A partition of a graph's nodes into cliques: sets of which any two are neighbours. Each clique's nodes are
/// in increasing order, and the cliques in that of their smallest nodes.
using Cliques = std::vector<std::vector<NodeId>>;

/// How many nodes ExactCliqueCover takes.
inline constexpr Count kMostExactCover = 20;

/// The smallest of three covers, for a graph of any size: first fit in the nodes' order; cliques that are
/// grown from the node with the fewest neighbours left; and DSATUR on the complement (D. Brelaz, "New methods
/// to color the vertices of a graph", Comm. ACM 22(4), 1979). M^2 steps or so.
Cliques GreedyCliqueCover(const Graph& graph);

/// One with as few cliques as there can be, by branch and bound: an error beyond kMostExactCover nodes.
absl::StatusOr<Cliques> ExactCliqueCover(const Graph& graph);

/// Exact if it is small enough for that, else greedy.
Cliques CliqueCover(const Graph& graph);

}  // namespace bandana
