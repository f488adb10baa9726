#pragma once

#include <vector>

#include "bandana/federation/graph.h"
#include "bandana/federation/node_set.h"

namespace bandana {

/// The routes by which agents send their tallies to sinks: P4's sink agent collection.
struct SinkRoutes {
  std::vector<NodeId> sinks;  ///< ascending
  /// The next node on node i's route, at index i - 1. It is kServerNode for a sink.
  std::vector<NodeId> upstream;
  int hops = 0;  ///< the length of the longest route
};

/// Finds a sink for every connected part of each set, and the shortest routes to it. Among equally near
/// neighbours, a route takes the one with the smallest id. The sets are disjoint and cover the graph.
SinkRoutes FindRoutes(const Graph& graph, const std::vector<NodeSet>& sets);

/// Returns how many links all tallies use if each travels its whole route by itself: the sum of distances
/// (P4's Theorem 4).
Count PathLinks(const SinkRoutes& routes);

}  // namespace bandana
