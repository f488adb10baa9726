#pragma once

#include <vector>

#include "bandana/federation/graph.h"
#include "bandana/federation/node_set.h"

namespace bandana {

/// The ways by which agents send what they have to sinks: P4's sink agent collection.
struct SinkRoutes {
  std::vector<NodeId> sinks;     ///< ascending
  std::vector<NodeId> upstream;  ///< of node i at place i - 1; kServerNode at a sink
  int hops = 0;                  ///< of the longest way
};

/// A sink for every connected part of each of the sets, which are disjoint and cover the graph, and the
/// shortest ways to it, by the smallest of equal neighbours.
SinkRoutes FindRoutes(const Graph& graph, const std::vector<NodeSet>& sets);

/// Links that all tallies use if each goes its whole way by itself: the sum of distances (Theorem 4).
Count PathLinks(const SinkRoutes& routes);

}  // namespace bandana
