#include "bandana/federation/sink_routes.h"

#include <algorithm>

#include "bandana/core/check.h"

namespace bandana {
namespace {

// Breadth first, inside a part: who was reached from whom, in the order of reaching.
struct Search {
  std::vector<NodeId> order;
  std::vector<int> depth;  // by place; -1: not reached
  std::vector<NodeId> parent;
};

Search SearchFrom(const Graph& graph, const NodeSet& part, NodeId from) {
  const auto nodes = static_cast<std::size_t>(graph.nodes());
  Search search{{from}, std::vector<int>(nodes, -1), std::vector<NodeId>(nodes)};
  search.depth[from.value - 1] = 0;
  for (std::size_t next = 0; next < search.order.size(); ++next) {
    const NodeId node = search.order[next];
    for (const NodeId neighbour : graph.neighbours(node)) {
      if (!part.Contains(neighbour) || search.depth[neighbour.value - 1] >= 0) continue;
      search.depth[neighbour.value - 1] = search.depth[node.value - 1] + 1;
      search.parent[neighbour.value - 1] = node;
      search.order.push_back(neighbour);
    }
  }
  return search;
}

}  // namespace

Sink FindSink(const Graph& graph, const NodeSet& part) {
  Sink best{.eccentricity = Graph::kUnreachable};
  part.ForEach([&](NodeId node) {
    const Search search = SearchFrom(graph, part, node);
    const int eccentricity = search.depth[search.order.back().value - 1];
    if (eccentricity < best.eccentricity) best = {node, eccentricity};
  });
  return best;
}

SinkRoutes FindRoutes(const Graph& graph, const std::vector<NodeSet>& sets) {
  SinkRoutes routes{.upstream = std::vector<NodeId>(static_cast<std::size_t>(graph.nodes()))};
  for (const NodeSet& set : sets) {
    NodeSet left = set;
    set.ForEach([&](NodeId first) {
      if (!left.Contains(first)) return;
      NodeSet part(graph.nodes());
      for (const NodeId node : SearchFrom(graph, set, first).order) part.Insert(node);
      left.Remove(part);
      const Sink sink = FindSink(graph, part);
      const Search ways = SearchFrom(graph, part, sink.node);
      for (const NodeId node : ways.order) {
        routes.upstream[node.value - 1] = node == sink.node ? kServerNode : ways.parent[node.value - 1];
      }
      routes.sinks.push_back(sink.node);
      routes.hops = std::max(routes.hops, sink.eccentricity);
    });
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
