#include "bandana/federation/sink_routes.h"

#include <algorithm>

namespace bandana {

SinkRoutes FindRoutes(const Graph& graph, const std::vector<NodeSet>& sets) {
  SinkRoutes routes{.upstream = std::vector<NodeId>(static_cast<std::size_t>(graph.nodes()))};
  for (const NodeSet& set : sets) {
    std::vector<NodeId> others;
    for (std::uint32_t i = 1; i <= graph.nodes(); ++i) {
      if (!set.Contains(NodeId{i})) others.push_back(NodeId{i});
    }
    const Graph inside = Without(graph, others, {});
    for (const std::vector<NodeId>& part : Components(inside)) {
      if (!set.Contains(part.front())) continue;
      const GraphCentre sink = Centre(inside, part);
      const std::vector<int> distances = inside.Distances(sink.node);
      for (const NodeId node : part) {
        const auto neighbours = inside.neighbours(node);
        const auto nearer = std::find_if(neighbours.begin(), neighbours.end(), [&](NodeId neighbour) {
          return distances[neighbour.value - 1] < distances[node.value - 1];
        });
        routes.upstream[node.value - 1] = node == sink.node ? kServerNode : *nearer;
      }
      routes.sinks.push_back(sink.node);
      routes.hops = std::max(routes.hops, sink.eccentricity);
    }
  }
  std::sort(routes.sinks.begin(), routes.sinks.end());
  return routes;
}

Count PathLinks(const SinkRoutes& routes) {
  Count links = 0;
  for (NodeId node : routes.upstream) {
    for (; node != kServerNode; node = routes.upstream[node.value - 1]) ++links;
  }
  return links;
}

}  // namespace bandana
