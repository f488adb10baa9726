#include "bandana/federation/sink_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "bandana/federation/graph_shapes.h"
#include "tests/federation/graph_support.h"

namespace bandana {
namespace {

using testing::ElementsAre;

NodeSet All(const Graph& graph) {
  NodeSet all(graph.nodes());
  for (std::uint32_t i = 1; i <= graph.nodes(); ++i) all.Insert(NodeId{i});
  return all;
}

TEST(SinkRoutesTest, ALinesSinkIsInItsMiddle) {
  const Graph line = LineGraph(5).value();
  const SinkRoutes routes = FindRoutes(line, {All(line)});
  EXPECT_THAT(routes.sinks, ElementsAre(NodeId{3}));
  EXPECT_EQ(routes.hops, 2);
  EXPECT_THAT(routes.upstream, ElementsAre(NodeId{2}, NodeId{3}, kServerNode, NodeId{3}, NodeId{4}));
  EXPECT_EQ(PathLinks(routes), 2 + 1 + 0 + 1 + 2);
}

TEST(SinkRoutesTest, AgentsWithoutLinksAreSinks) {
  const Graph graph = Graph::Create(3, {}).value();
  const SinkRoutes routes = FindRoutes(graph, {All(graph)});
  EXPECT_EQ(routes.sinks.size(), 3u);
  EXPECT_EQ(routes.hops, 0);
  EXPECT_EQ(PathLinks(routes), 0);
}

TEST(SinkRoutesTest, SetsDoNotSendThroughEachOther) {
  const Graph line = LineGraph(5).value();
  NodeSet lost(5);
  lost.Insert(NodeId{3});
  NodeSet others = All(line);
  others.Remove(lost);
  const SinkRoutes routes = FindRoutes(line, {others, lost});
  EXPECT_THAT(routes.sinks, ElementsAre(NodeId{1}, NodeId{3}, NodeId{4}));
  EXPECT_THAT(routes.upstream, ElementsAre(kServerNode, NodeId{1}, kServerNode, kServerNode, NodeId{4}));
}

RC_GTEST_PROP(SinkRoutesTest, EveryWayIsAShortestOneToTheBestSink, ()) {
  const Graph graph = test::AnyGraph(12);
  const SinkRoutes routes = FindRoutes(graph, {All(graph)});
  int hops = 0;
  Count links = 0;
  for (std::uint32_t i = 1; i <= graph.nodes(); ++i) {
    NodeId at{i};
    int steps = 0;
    for (; routes.upstream[at.value - 1] != kServerNode; ++steps) {
      RC_ASSERT(graph.adjacent(at, routes.upstream[at.value - 1]));
      at = routes.upstream[at.value - 1];
    }
    RC_ASSERT(steps == graph.distance(NodeId{i}, at));
    hops = std::max(hops, steps);
    links += steps;
    // No other node of the component is closer to its farthest node.
    int least = Graph::kUnreachable;
    int own = 0;
    const std::vector<int> component = graph.Distances(at);
    for (std::uint32_t j = 1; j <= graph.nodes(); ++j) {
      if (component[j - 1] == Graph::kUnreachable) continue;
      int farthest = 0;
      for (const int distance : graph.Distances(NodeId{j})) {
        if (distance != Graph::kUnreachable) farthest = std::max(farthest, distance);
      }
      least = std::min(least, farthest);
      if (NodeId{j} == at) own = farthest;
    }
    RC_ASSERT(own == least);
  }
  RC_ASSERT(routes.hops == hops);
  RC_ASSERT(PathLinks(routes) == links);
}

}  // namespace
}  // namespace bandana
