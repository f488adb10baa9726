#include "bandana/federation/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "bandana/core/status.h"
#include "tests/federation/graph_support.h"

namespace bandana {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kFar = Graph::kUnreachable;

Graph Of(Count nodes, const std::vector<Edge>& edges) { return Graph::Create(nodes, edges).value(); }

InputError ErrorOf(Count nodes, const std::vector<Edge>& edges) {
  const auto graph = Graph::Create(nodes, edges);
  EXPECT_FALSE(graph.ok());
  return InputErrorOf(graph.status()).value();
}

TEST(GraphTest, KnowsItsNeighboursInOrder) {
  const Graph graph = Of(4, {{{3}, {1}}, {{1}, {2}}, {{2}, {3}}});
  EXPECT_EQ(graph.nodes(), 4);
  EXPECT_EQ(graph.edges(), 3);
  EXPECT_THAT(graph.neighbours(NodeId{1}), ElementsAre(NodeId{2}, NodeId{3}));
  EXPECT_THAT(graph.neighbours(NodeId{3}), ElementsAre(NodeId{1}, NodeId{2}));
  EXPECT_THAT(graph.neighbours(NodeId{4}), IsEmpty());
  EXPECT_THAT(graph.Edges(), ElementsAre(Edge{{1}, {2}}, Edge{{1}, {3}}, Edge{{2}, {3}}));
  EXPECT_TRUE(graph.adjacent(NodeId{1}, NodeId{3}));
  EXPECT_FALSE(graph.adjacent(NodeId{1}, NodeId{4}));
  EXPECT_FALSE(graph.adjacent(NodeId{1}, NodeId{1}));
  EXPECT_FALSE(graph.Contains(NodeId{0}));
  EXPECT_FALSE(graph.Contains(NodeId{5}));
}

TEST(GraphTest, MeasuresDistances) {
  const Graph graph = Of(5, {{{1}, {2}}, {{2}, {3}}, {{3}, {4}}});
  EXPECT_THAT(graph.Distances(NodeId{2}), ElementsAre(1, 0, 1, 2, kFar));
  EXPECT_THAT(graph.Distances(NodeId{1}, 2), ElementsAre(0, 1, 2, kFar, kFar));
  EXPECT_EQ(graph.distance(NodeId{1}, NodeId{4}), 3);
  EXPECT_EQ(graph.distance(NodeId{1}, NodeId{5}), kFar);
  EXPECT_EQ(graph.eccentricity(NodeId{1}), kFar);
  EXPECT_EQ(graph.diameter(), kFar);
  EXPECT_FALSE(graph.connected());
  const Graph one = Of(1, {});
  EXPECT_TRUE(one.connected());
  EXPECT_EQ(one.diameter(), 0);
}

RC_GTEST_PROP(GraphProperty, ComponentsAreWhoReachesWhom, ()) {
  const Graph graph = test::AnyGraph(14);
  const auto components = Components(graph);
  std::vector<NodeId> firsts;
  std::vector<int> of(static_cast<std::size_t>(graph.nodes()) + 1, -1);
  for (std::size_t i = 0; i < components.size(); ++i) {
    RC_ASSERT(!components[i].empty());
    RC_ASSERT(std::is_sorted(components[i].begin(), components[i].end()));
    firsts.push_back(components[i].front());
    for (const NodeId node : components[i]) {
      RC_ASSERT(of[node.value] == -1);
      of[node.value] = static_cast<int>(i);
    }
  }
  RC_ASSERT(std::is_sorted(firsts.begin(), firsts.end()));
  for (NodeId a{1}; graph.Contains(a); ++a.value) {
    for (NodeId b{1}; graph.Contains(b); ++b.value) {
      RC_ASSERT((graph.distance(a, b) != kFar) == (of[a.value] == of[b.value] && of[a.value] >= 0));
    }
  }
}

// Compares with distances by Floyd and Warshall's recursion, over every node.
RC_GTEST_PROP(GraphProperty, TheCentreIsNearestToTheFarthest, ()) {
  const Graph graph = test::AnyGraph(14);
  const auto m = static_cast<std::size_t>(graph.nodes());
  constexpr int kNone = 1000;
  std::vector<std::vector<int>> hops(m + 1, std::vector<int>(m + 1, kNone));
  for (std::size_t i = 1; i <= m; ++i) hops[i][i] = 0;
  for (const auto& [a, b] : graph.Edges()) hops[a.value][b.value] = hops[b.value][a.value] = 1;
  for (std::size_t k = 1; k <= m; ++k) {
    for (std::size_t i = 1; i <= m; ++i) {
      for (std::size_t j = 1; j <= m; ++j) hops[i][j] = std::min(hops[i][j], hops[i][k] + hops[k][j]);
    }
  }
  for (const auto& component : Components(graph)) {
    GraphCentre best{NodeId{0}, kNone};
    for (const NodeId node : component) {
      int farthest = 0;
      for (const NodeId other : component) farthest = std::max(farthest, hops[node.value][other.value]);
      if (farthest < best.eccentricity) best = {node, farthest};
    }
    RC_ASSERT((Centre(graph, component) == best));
  }
}

TEST(GraphTest, CentresOfLines) {
  const auto line = [](std::uint32_t nodes) {
    std::vector<Edge> edges;
    for (std::uint32_t i = 1; i < nodes; ++i) edges.push_back({{i}, {i + 1}});
    const Graph graph = Of(nodes, edges);
    return Centre(graph, Components(graph).front());
  };
  EXPECT_EQ(line(1), (GraphCentre{NodeId{1}, 0}));
  EXPECT_EQ(line(2), (GraphCentre{NodeId{1}, 1}));
  EXPECT_EQ(line(3), (GraphCentre{NodeId{2}, 1}));
  EXPECT_EQ(line(4), (GraphCentre{NodeId{2}, 2}));
  EXPECT_EQ(line(101), (GraphCentre{NodeId{51}, 50}));
}

TEST(GraphTest, LosesNodesAndEdges) {
  const Graph graph = Of(5, {{{1}, {2}}, {{2}, {3}}, {{3}, {4}}, {{4}, {5}}, {{1}, {5}}});
  const std::vector<NodeId> lost = {NodeId{3}};
  const std::vector<Edge> cut = {{{5}, {1}}, {{2}, {4}}};
  const Graph left = Without(graph, lost, cut);
  EXPECT_EQ(left.nodes(), 5);
  EXPECT_THAT(left.Edges(), ElementsAre(Edge{{1}, {2}}, Edge{{4}, {5}}));
  EXPECT_THAT(Components(left), ElementsAre(ElementsAre(NodeId{1}, NodeId{2}), ElementsAre(NodeId{3}),
                                            ElementsAre(NodeId{4}, NodeId{5})));
  EXPECT_TRUE(Without(graph, {}, {}) == graph);
}

TEST(GraphTest, JoinsGraphsSideBySide) {
  const std::vector<Graph> parts = {Of(2, {{{1}, {2}}}), Of(1, {}), Of(3, {{{1}, {3}}, {{2}, {3}}})};
  const Graph joined = JoinComponents(parts).value();
  EXPECT_EQ(joined.nodes(), 6);
  EXPECT_THAT(joined.Edges(), ElementsAre(Edge{{1}, {2}}, Edge{{4}, {6}}, Edge{{5}, {6}}));
  EXPECT_THAT(Components(joined), ::testing::SizeIs(3));
  EXPECT_EQ(InputErrorOf(JoinComponents({}).status())->key, "people");
  const std::vector<Graph> many(2, Of(Graph::kMostNodes, {}));
  EXPECT_EQ(InputErrorOf(JoinComponents(many).status())->key, "people");
}

TEST(GraphTest, NamesWhatIsWrong) {
  const InputError loop = ErrorOf(3, {{{1}, {2}}, {{3}, {3}}});
  EXPECT_EQ(loop.key, "topology");
  EXPECT_EQ(loop.value, "3 3");
  EXPECT_THAT(loop.message, HasSubstr("self loop"));
  for (const Edge& again : {Edge{{1}, {2}}, Edge{{2}, {1}}}) {
    const InputError twice = ErrorOf(3, {{{1}, {2}}, {{2}, {3}}, again});
    EXPECT_THAT(twice.message, HasSubstr("already"));
    EXPECT_EQ(twice.value, again.a.value == 1 ? "1 2" : "2 1");
  }
  EXPECT_THAT(ErrorOf(3, {{{0}, {2}}}).message, HasSubstr("no node 0"));
  EXPECT_THAT(ErrorOf(3, {{{2}, {4}}}).message, HasSubstr("no node 4"));
  EXPECT_THAT(ErrorOf(3, {{{2}, kShufflerNode}}).message, HasSubstr("no node 4294967295"));
  for (const Count nodes : {Count{-1}, Count{0}, Graph::kMostNodes + 1}) {
    EXPECT_EQ(ErrorOf(nodes, {}).key, "people");
  }
}

TEST(CheckConnectedTest, NamesTwoThatCannotReachEachOther) {
  EXPECT_TRUE(CheckConnected(Of(1, {})).ok());
  EXPECT_TRUE(CheckConnected(Of(3, {{{1}, {2}}, {{2}, {3}}})).ok());
  const auto error = InputErrorOf(CheckConnected(Of(4, {{{1}, {2}}, {{3}, {4}}})));
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->key, "topology");
  EXPECT_THAT(error->value, HasSubstr("from node 1 to node 3"));
}

// Returns distances by Floyd and Warshall's recursion.
std::vector<std::vector<int>> AllDistances(const Graph& graph) {
  const auto m = static_cast<std::size_t>(graph.nodes());
  constexpr int kLong = 1 << 20;
  std::vector<std::vector<int>> d(m, std::vector<int>(m, kLong));
  for (std::size_t i = 0; i < m; ++i) d[i][i] = 0;
  for (const auto& [a, b] : graph.Edges()) d[a.value - 1][b.value - 1] = d[b.value - 1][a.value - 1] = 1;
  for (std::size_t k = 0; k < m; ++k) {
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < m; ++j) d[i][j] = std::min(d[i][j], d[i][k] + d[k][j]);
    }
  }
  for (auto& row : d) std::replace_if(row.begin(), row.end(), [](int x) { return x >= kLong; }, kFar);
  return d;
}

RC_GTEST_PROP(GraphProperty, DistancesAreThoseOfFloydAndWarshall, ()) {
  const Graph graph = test::AnyGraph(14);
  const auto expected = AllDistances(graph);
  int diameter = 0;
  for (std::uint32_t i = 1; i <= graph.nodes(); ++i) {
    const auto& row = expected[i - 1];
    RC_ASSERT(graph.Distances(NodeId{i}) == row);
    const int farthest = *std::max_element(row.begin(), row.end());
    RC_ASSERT(graph.eccentricity(NodeId{i}) == farthest);
    diameter = std::max(diameter, farthest);
  }
  RC_ASSERT(graph.diameter() == diameter);
  RC_ASSERT(graph.connected() == (diameter != kFar));
  RC_ASSERT(CheckConnected(graph).ok() == graph.connected());
}

RC_GTEST_PROP(GraphProperty, APowersNeighboursAreNear, ()) {
  const Graph graph = test::AnyGraph(14);
  const int gamma = *rc::gen::inRange(0, 6);
  const Graph power = graph.Power(gamma);
  RC_ASSERT(power.nodes() == graph.nodes());
  for (std::uint32_t a = 1; a <= graph.nodes(); ++a) {
    for (std::uint32_t b = 1; b <= graph.nodes(); ++b) {
      RC_ASSERT(power.adjacent(NodeId{a}, NodeId{b}) ==
                (a != b && graph.distance(NodeId{a}, NodeId{b}) <= gamma));
    }
  }
  RC_ASSERT((graph.Power(1) == graph));
}

// --- files

class GraphFileTest : public testing::Test {
 protected:
  absl::StatusOr<Graph> Read(const std::string& text, Count nodes) {
    std::ofstream(path_) << text;
    return ReadGraph(path_, nodes);
  }
  void ExpectError(const std::string& text, int line, const std::string& says) {
    const auto graph = Read(text, 5);
    ASSERT_FALSE(graph.ok()) << text;
    const InputError error = InputErrorOf(graph.status()).value();
    EXPECT_EQ(error.file, path_);
    EXPECT_EQ(error.line, line) << text;
    EXPECT_EQ(error.key, "topology");
    EXPECT_THAT(error.message, HasSubstr(says));
  }
  void TearDown() override { std::filesystem::remove(path_); }

  const std::string path_ =
      testing::TempDir() + "graph-" + testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(GraphFileTest, HasTwoNodesALine) {
  const auto graph = Read("# a path\n1 2\n\n  3\t2 # and its end\r\n4 3", 5);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(graph->Edges(), ElementsAre(Edge{{1}, {2}}, Edge{{2}, {3}}, Edge{{3}, {4}}));
  EXPECT_EQ(graph->nodes(), 5);
  EXPECT_EQ(Read("", 2)->edges(), 0);
}

TEST_F(GraphFileTest, ErrorsNameTheLine) {
  ExpectError("1 2\n# two\n3 3\n", 3, "self loop");
  ExpectError("1 2\n\n2 1\n", 3, "already");
  ExpectError("1 6\n", 1, "no node 6");
  ExpectError("0 1\n", 1, "no node 0");
  for (const char* line : {"1", "1 2 3", "one two", "1,2", "-1 2", "1.5 2", "4294967297 2", "1 nan"}) {
    ExpectError(std::string("1 2\n") + line + "\n", 2, "not an edge");
  }
}

TEST_F(GraphFileTest, MustBeThere) {
  const auto graph = ReadGraph(path_ + "-none", 5);
  const auto error = InputErrorOf(graph.status());
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->key, "file");
  EXPECT_EQ(error->value, path_ + "-none");
  EXPECT_EQ(InputErrorOf(Read("1 2", 0).status())->key, "people");
}

}  // namespace
}  // namespace bandana
