#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "bandana/federation/graph.h"

namespace bandana {

/// A partition of a graph's nodes into cliques. Any two nodes of a clique are neighbours. The nodes of each
/// clique are in increasing order. The cliques are in the order of their smallest nodes.
using Cliques = std::vector<std::vector<NodeId>>;

/// The largest number of nodes that ExactCliqueCover accepts.
inline constexpr Count kMostExactCover = 20;

/// Returns the smallest of three covers; the graph may have any size. The first cover is first fit in the
/// nodes' order. The second grows cliques from the node with the fewest uncovered neighbours. The third is
/// DSATUR on the complement (D. Brelaz, "New methods to color the vertices of a graph", Comm. ACM 22(4),
/// 1979). The time grows about as M^2 for M nodes.
Cliques GreedyCliqueCover(const Graph& graph);

/// Returns a cover with the smallest possible number of cliques, found by branch and bound. Fails if the
/// graph has more than kMostExactCover nodes.
absl::StatusOr<Cliques> ExactCliqueCover(const Graph& graph);

/// Returns the exact cover if the graph has at most kMostExactCover nodes, else the greedy cover.
Cliques CliqueCover(const Graph& graph);

}  // namespace bandana
