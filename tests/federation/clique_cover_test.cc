#include "bandana/federation/clique_cover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <set>
#include <vector>

#include "bandana/core/status.h"
#include "bandana/federation/graph_shapes.h"
#include "tests/federation/graph_support.h"
#include "tests/support.h"

namespace bandana {
namespace {

using ::testing::ElementsAre;

bool IsCover(const Graph& graph, const Cliques& cliques) {
  std::set<NodeId> covered;
  for (const auto& clique : cliques) {
    if (clique.empty() || !std::is_sorted(clique.begin(), clique.end())) return false;
    for (std::size_t i = 0; i < clique.size(); ++i) {
      if (!graph.Contains(clique[i]) || !covered.insert(clique[i]).second) return false;
      for (std::size_t j = 0; j < i; ++j) {
        if (!graph.adjacent(clique[i], clique[j])) return false;
      }
    }
  }
  return static_cast<Count>(covered.size()) == graph.nodes() &&
         std::is_sorted(cliques.begin(), cliques.end());
}

// Computes the size of the smallest cover over all sets of nodes: least[set] is 1 plus the smallest least[set
// without a clique].
std::size_t FewestCliques(const Graph& graph) {
  const auto m = static_cast<unsigned>(graph.nodes());
  std::vector<unsigned> around(m);
  for (unsigned i = 0; i < m; ++i) {
    around[i] = 1u << i;
    for (const NodeId other : graph.neighbours(NodeId{i + 1})) around[i] |= 1u << (other.value - 1);
  }
  std::vector<char> clique(1u << m, 1);
  std::vector<std::size_t> least(1u << m, 0);
  for (unsigned set = 1; set < 1u << m; ++set) {
    const auto lowest = static_cast<unsigned>(std::countr_zero(set));
    const unsigned rest = set & (set - 1);
    clique[set] = clique[rest] != 0 && (rest & ~around[lowest]) == 0 ? 1 : 0;
    least[set] = m;
    for (unsigned part = set; part != 0; part = (part - 1) & set) {
      if (clique[part] != 0) least[set] = std::min(least[set], least[set & ~part] + 1);
    }
  }
  return least.back();
}

RC_GTEST_PROP(CliqueCoverProperty, IsAPartitionIntoCliquesAndExactIsTheSmallest, ()) {
  const Graph graph = test::AnyGraph(9);
  const Cliques greedy = GreedyCliqueCover(graph);
  const Cliques exact = ExactCliqueCover(graph).value();
  RC_ASSERT(IsCover(graph, greedy));
  RC_ASSERT(IsCover(graph, exact));
  RC_ASSERT(exact.size() == FewestCliques(graph));
  RC_ASSERT(exact.size() <= greedy.size());
  RC_ASSERT(CliqueCover(graph) == exact);
}

RC_GTEST_PROP(CliqueCoverProperty, ExactIsNeverBeatenByGreedy, ()) {
  const Graph graph = test::AnyGraph(kMostExactCover);
  const Cliques greedy = GreedyCliqueCover(graph);
  const Cliques exact = ExactCliqueCover(graph).value();
  RC_ASSERT(IsCover(graph, greedy));
  RC_ASSERT(IsCover(graph, exact));
  RC_ASSERT(exact.size() <= greedy.size());
}

RC_GTEST_PROP(CliqueCoverProperty, LargeGraphsAreCovered, ()) {
  const Graph graph = test::AnyGraph(50);
  RC_ASSERT(IsCover(graph, GreedyCliqueCover(graph)));
  RC_ASSERT(IsCover(graph, CliqueCover(graph)));
}

// Expects that both covers, the greedy one and the final one, have this size.
void ExpectSize(const Graph& graph, Count expected) {
  EXPECT_EQ(GreedyCliqueCover(graph).size(), static_cast<std::size_t>(expected));
  EXPECT_EQ(CliqueCover(graph).size(), static_cast<std::size_t>(expected));
}

TEST(CliqueCoverTest, KnownGraphs) {
  for (const Count m : {1, 2, 3, 4, 7, 12, 19, 20, 21, 50}) {
    SCOPED_TRACE(m);
    ExpectSize(*CompleteGraph(m), 1);
    ExpectSize(*LineGraph(m), (m + 1) / 2);
    ExpectSize(*Graph::Create(m, {}), m);
    if (m >= 3) ExpectSize(*StarGraph(m), m - 1);
    if (m >= 4) ExpectSize(*RingGraph(m), (m + 1) / 2);
    for (const int gamma : {1, 2, 3, 5}) ExpectSize(LineGraph(m)->Power(gamma), (m + gamma) / (gamma + 1));
  }
  ExpectSize(*RingGraph(3), 1);
}

TEST(CliqueCoverTest, NamesItsCliquesInOrder) {
  EXPECT_THAT(CliqueCover(*LineGraph(5)),
              ElementsAre(ElementsAre(NodeId{1}, NodeId{2}), ElementsAre(NodeId{3}, NodeId{4}),
                          ElementsAre(NodeId{5})));
}

TEST(CliqueCoverTest, ExactIsForSmallGraphs) {
  EXPECT_TRUE(ExactCliqueCover(*RingGraph(kMostExactCover)).ok());
  const auto error = InputErrorOf(ExactCliqueCover(*RingGraph(kMostExactCover + 1)).status());
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->key, "people");
}

// On 100 nodes where each pair is an edge with probability 1/2, the greedy cover is about as large as
// colouring a random graph needs (DSATUR colours G(100, 1/2) with about 18).
TEST(CliqueCoverTest, GreedIsDecentOnRandomGraphs) {
  test::Coins coins(1);
  const Graph graph = *ErdosRenyiGraph(100, 0.5, coins.gen);
  EXPECT_LE(GreedyCliqueCover(graph).size(), 21u);
}

}  // namespace
}  // namespace bandana
