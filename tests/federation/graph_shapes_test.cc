#include "bandana/federation/graph_shapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bandana/core/status.h"
#include "tests/support.h"

// Seeds are fixed. Chi-square tests have a false-alarm rate of 1e-6 over seeds.
namespace bandana {
namespace {

std::string KeyOf(const absl::StatusOr<Graph>& graph) {
  return graph.ok() ? "ok" : InputErrorOf(graph.status()).value_or(InputError{}).key;
}

TEST(GraphShapesTest, HaveTheirEdgesAndDiameters) {
  for (const Count m : {3, 4, 5, 12, 50}) {
    SCOPED_TRACE(m);
    const Graph complete = *CompleteGraph(m);
    EXPECT_EQ(complete.edges(), m * (m - 1) / 2);
    EXPECT_EQ(complete.diameter(), 1);
    const Graph star = *StarGraph(m);
    EXPECT_EQ(star.edges(), m - 1);
    EXPECT_EQ(star.degree(NodeId{1}), m - 1);
    EXPECT_EQ(star.eccentricity(NodeId{1}), 1);
    EXPECT_EQ(star.diameter(), 2);
    const Graph ring = *RingGraph(m);
    EXPECT_EQ(ring.edges(), m);
    EXPECT_EQ(ring.diameter(), m / 2);
    const Graph line = *LineGraph(m);
    EXPECT_EQ(line.edges(), m - 1);
    EXPECT_EQ(line.diameter(), m - 1);
    EXPECT_EQ(line.distance(NodeId{1}, NodeId{static_cast<std::uint32_t>(m)}), m - 1);
  }
  for (const auto& shape : {CompleteGraph, StarGraph, LineGraph, GridGraph}) {
    EXPECT_EQ(shape(1)->edges(), 0);
    EXPECT_EQ(shape(2)->edges(), 1);
  }
}

TEST(GraphShapesTest, AMultiStarDealsNodesToItsHubs) {
  EXPECT_TRUE(*MultiStarGraph(9, 1) == *StarGraph(9));
  EXPECT_TRUE(*MultiStarGraph(9, 9) == *CompleteGraph(9));
  EXPECT_EQ(MultiStarGraph(1, 1)->edges(), 0);
  const Graph graph = *MultiStarGraph(11, 3);
  EXPECT_EQ(graph.edges(), 3 + 8);
  EXPECT_EQ(graph.diameter(), 3);
  EXPECT_THAT(graph.neighbours(NodeId{1}),
              ::testing::ElementsAre(NodeId{2}, NodeId{3}, NodeId{4}, NodeId{7}, NodeId{10}));
  EXPECT_THAT(graph.neighbours(NodeId{3}),
              ::testing::ElementsAre(NodeId{1}, NodeId{2}, NodeId{6}, NodeId{9}));
  EXPECT_THAT(graph.neighbours(NodeId{11}), ::testing::ElementsAre(NodeId{2}));
  for (const Count hubs : {-1, 0, 12, 5000}) {
    EXPECT_EQ(KeyOf(MultiStarGraph(11, hubs)), "degree") << hubs;
  }
  EXPECT_EQ(KeyOf(MultiStarGraph(10'000, 5000)), "degree");
}

TEST(GraphShapesTest, AGridIsNearlySquareAndConnected) {
  const Graph square = *GridGraph(9);
  EXPECT_EQ(square.edges(), 12);
  EXPECT_EQ(square.diameter(), 4);
  EXPECT_EQ(square.degree(NodeId{5}), 4);
  EXPECT_EQ(GridGraph(12)->diameter(), 2 + 3);  // 3 rows of 4
  for (Count m = 1; m <= 60; ++m) EXPECT_TRUE(GridGraph(m)->connected()) << m;
}

TEST(GraphShapesTest, RejectWhatTheyCannotDraw) {
  test::Coins coins(1);
  EXPECT_EQ(KeyOf(RingGraph(2)), "people");
  for (const Count m : {Count{0}, Count{-3}, Graph::kMostNodes + 1}) {
    for (const auto& shape : {CompleteGraph, StarGraph, RingGraph, LineGraph, GridGraph}) {
      EXPECT_EQ(KeyOf(shape(m)), "people");
    }
    EXPECT_EQ(KeyOf(MultiStarGraph(m, 1)), "people");
    EXPECT_EQ(KeyOf(RegularGraph(m, 0, coins.gen)), "people");
    EXPECT_EQ(KeyOf(ErdosRenyiGraph(m, 0.5, coins.gen)), "people");
    EXPECT_EQ(KeyOf(WattsStrogatzGraph(m, 2, 0.5, coins.gen)), "people");
    EXPECT_EQ(KeyOf(BarabasiAlbertGraph(m, 1, coins.gen)), "people");
  }
  for (const double p :
       {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(KeyOf(ErdosRenyiGraph(5, p, coins.gen)), "edge_probability");
    EXPECT_EQ(KeyOf(WattsStrogatzGraph(5, 2, p, coins.gen)), "edge_probability");
  }
  for (const Count degree : {-1, 3, 5}) {
    EXPECT_EQ(KeyOf(RegularGraph(5, degree, coins.gen)), "degree") << degree;
  }
  for (const Count degree : {-1, 0, 3, 6}) {
    EXPECT_EQ(KeyOf(WattsStrogatzGraph(6, degree, 0.5, coins.gen)), "degree") << degree;
  }
  for (const Count degree : {-1, 0, 6}) {
    EXPECT_EQ(KeyOf(BarabasiAlbertGraph(6, degree, coins.gen)), "degree") << degree;
  }
}

RC_GTEST_PROP(GraphShapesProperty, ARegularGraphsNodesHaveTheSameDegree, ()) {
  const Count nodes = *rc::gen::inRange<Count>(1, 40);
  const Count degree = *rc::gen::inRange<Count>(0, nodes);
  RC_PRE(nodes * degree % 2 == 0);
  test::Coins coins(*rc::gen::arbitrary<std::uint64_t>());
  const Graph graph = RegularGraph(nodes, degree, coins.gen).value();
  for (NodeId node{1}; graph.Contains(node); ++node.value) RC_ASSERT(graph.degree(node) == degree);
}

RC_GTEST_PROP(GraphShapesProperty, WattsAndStrogatzMoveEdgesAndLoseNone, ()) {
  const Count nodes = *rc::gen::inRange<Count>(3, 40);
  const Count degree = 2 * *rc::gen::inRange<Count>(1, (nodes + 1) / 2);
  test::Coins coins(*rc::gen::arbitrary<std::uint64_t>());
  const double p = *rc::gen::inRange(0, 11) / 10.;
  const Graph graph = WattsStrogatzGraph(nodes, degree, p, coins.gen).value();
  RC_ASSERT(graph.edges() == nodes * degree / 2);
  for (NodeId node{1}; graph.Contains(node); ++node.value) RC_ASSERT(graph.degree(node) >= degree / 2);
  if (p == 0 && degree == 2) RC_ASSERT((graph == *RingGraph(nodes)));
}

RC_GTEST_PROP(GraphShapesProperty, BarabasiAndAlbertsGraphGrowsConnected, ()) {
  const Count nodes = *rc::gen::inRange<Count>(2, 60);
  const Count degree = *rc::gen::inRange<Count>(1, nodes);
  test::Coins coins(*rc::gen::arbitrary<std::uint64_t>());
  const Graph graph = BarabasiAlbertGraph(nodes, degree, coins.gen).value();
  RC_ASSERT(graph.edges() == degree * (degree + 1) / 2 + (nodes - degree - 1) * degree);
  RC_ASSERT(graph.connected());
  for (NodeId node{1}; graph.Contains(node); ++node.value) RC_ASSERT(graph.degree(node) >= degree);
}

TEST(GraphShapesTest, RandomGraphsAreFunctionsOfTheirCoins) {
  using Draw = std::function<absl::StatusOr<Graph>(CoinGen&)>;
  const std::vector<Draw> laws = {
      [](CoinGen& coin) { return RegularGraph(30, 4, coin); },
      [](CoinGen& coin) { return ErdosRenyiGraph(30, 0.2, coin); },
      [](CoinGen& coin) { return WattsStrogatzGraph(30, 4, 0.3, coin); },
      [](CoinGen& coin) { return BarabasiAlbertGraph(30, 2, coin); },
  };
  for (const Draw& law : laws) {
    test::Coins first(1), again(1), other(2);
    const Graph graph = *law(first.gen);
    EXPECT_TRUE(graph == *law(again.gen));
    EXPECT_FALSE(graph == *law(other.gen));
  }
}

// On six labelled nodes there are 60 rings of six and 10 pairs of triangles, and as many complements.
TEST(GraphShapesTest, EveryRegularGraphIsEquallyLikely) {
  constexpr int kDraws = 30'000;
  test::Coins coins(3);
  for (const Count degree : {2, 3}) {
    std::map<std::vector<Edge>, double> seen;
    for (int i = 0; i < kDraws; ++i) seen[RegularGraph(6, degree, coins.gen)->Edges()] += 1;
    ASSERT_EQ(seen.size(), 70u);
    std::vector<double> counts;
    for (const auto& [edges, count] : seen) counts.push_back(count);
    EXPECT_TRUE(test::FitsCounts(counts, std::vector<double>(70, kDraws / 70.)));
  }
}

TEST(GraphShapesTest, AnErdosRenyiGraphsPairsAreIndependentCoins) {
  constexpr int kDraws = 20'000;
  test::Coins coins(4);
  std::vector<double> counts(64);
  for (int i = 0; i < kDraws; ++i) {
    const Graph graph = *ErdosRenyiGraph(4, 0.3, coins.gen);
    std::size_t code = 0;
    for (std::uint32_t a = 1; a <= 4; ++a) {
      for (std::uint32_t b = a + 1; b <= 4; ++b)
        code = 2 * code + (graph.adjacent(NodeId{a}, NodeId{b}) ? 1 : 0);
    }
    counts[code] += 1;
  }
  std::vector<double> masses;
  for (unsigned code = 0; code < 64; ++code) {
    const int ones = std::popcount(code);
    masses.push_back(std::pow(0.3, ones) * std::pow(0.7, 6 - ones));
  }
  EXPECT_TRUE(test::FitsMasses(counts, masses));
  EXPECT_EQ(ErdosRenyiGraph(9, 0, coins.gen)->edges(), 0);
  EXPECT_EQ(ErdosRenyiGraph(9, 1, coins.gen)->edges(), 36);
}

// Nodes 1 and 2 have one edge (degree 1 each). Node 3 joins one of them, which becomes the middle of a line.
// Node 4 then joins the middle with probability 2/4.
TEST(GraphShapesTest, BarabasiAndAlbertPreferThoseWithManyNeighbours) {
  constexpr int kDraws = 20'000;
  test::Coins coins(5);
  std::vector<double> counts(2);
  for (int i = 0; i < kDraws; ++i) {
    const Graph graph = *BarabasiAlbertGraph(4, 1, coins.gen);
    const NodeId middle = graph.neighbours(NodeId{3}).front();
    counts[graph.adjacent(NodeId{4}, middle) ? 0 : 1] += 1;
  }
  EXPECT_TRUE(test::FitsMasses(counts, std::vector<double>{0.5, 0.5}));
}

TEST(GraphShapesTest, WattsAndStrogatzMoveEachEdgeWithItsProbability) {
  constexpr int kDraws = 2'000;
  constexpr Count kNodes = 50;
  test::Coins coins(6);
  const Graph ring = *RingGraph(kNodes);
  double kept = 0;
  for (int i = 0; i < kDraws; ++i) {
    const Graph graph = *WattsStrogatzGraph(kNodes, 2, 0.25, coins.gen);
    for (const auto& [a, b] : ring.Edges()) kept += graph.adjacent(a, b) ? 1 : 0;
  }
  // An edge of the ring is present if it stayed, or, rarely, if another edge was moved to its place.
  const double edges = kDraws * static_cast<double>(kNodes);
  const double sigma = std::sqrt(0.75 * 0.25 / edges);
  EXPECT_GT(kept / edges, 0.75 - 5 * sigma);
  EXPECT_LT(kept / edges, 0.75 + 0.25 * 2. / kNodes + 5 * sigma);
}

}  // namespace
}  // namespace bandana
