#include "bandana/federation/clique_cover.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <tuple>
#include <utility>

#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

Cliques InOrder(Cliques cliques) {
  for (auto& clique : cliques) std::sort(clique.begin(), clique.end());
  std::sort(cliques.begin(), cliques.end());
  return cliques;
}

bool Fits(const Graph& graph, NodeId node, const std::vector<NodeId>& clique) {
  return std::all_of(clique.begin(), clique.end(),
                     [&](NodeId member) { return graph.adjacent(node, member); });
}

// Each node joins the first clique that it fits.
Cliques FirstFit(const Graph& graph) {
  Cliques cliques;
  for (NodeId node{1}; graph.Contains(node); ++node.value) {
    const auto fit = std::find_if(cliques.begin(), cliques.end(),
                                  [&](const auto& clique) { return Fits(graph, node, clique); });
    if (fit != cliques.end()) {
      fit->push_back(node);
    } else {
      cliques.push_back({node});
    }
  }
  return cliques;
}

// Starts each clique at the node with the fewest uncovered neighbours. Adds its neighbours in the order of
// their numbers of uncovered neighbours, smallest first. This is optimal on a tree.
Cliques FewestNeighboursFirst(const Graph& graph) {
  std::vector<Count> left(static_cast<std::size_t>(graph.nodes()) + 1);
  std::vector<char> covered(left.size(), 0);
  for (NodeId node{1}; graph.Contains(node); ++node.value) left[node.value] = graph.degree(node);
  const auto fewer_left = [&](NodeId a, NodeId b) {
    return std::pair(left[a.value], a) < std::pair(left[b.value], b);
  };
  Cliques cliques;
  for (Count uncovered = graph.nodes(); uncovered > 0;) {
    NodeId start{0};
    for (NodeId node{1}; graph.Contains(node); ++node.value) {
      if (covered[node.value] == 0 && (start.value == 0 || fewer_left(node, start))) start = node;
    }
    std::vector<NodeId> clique{start};
    std::vector<NodeId> candidates;
    for (const NodeId node : graph.neighbours(start)) {
      if (covered[node.value] == 0) candidates.push_back(node);
    }
    std::sort(candidates.begin(), candidates.end(), fewer_left);
    for (const NodeId node : candidates) {
      if (Fits(graph, node, clique)) clique.push_back(node);
    }
    for (const NodeId member : clique) {
      covered[member.value] = 1;
      for (const NodeId other : graph.neighbours(member)) --left[other.value];
    }
    uncovered -= static_cast<Count>(clique.size());
    cliques.push_back(std::move(clique));
  }
  return cliques;
}

// Takes next the node that fits the fewest of the cliques; among several, the one with the fewest neighbours.
Cliques Dsatur(const Graph& graph) {
  const auto nodes = static_cast<std::size_t>(graph.nodes());
  std::vector<std::vector<char>> barred(nodes + 1);  // indexed by node, then by clique
  std::vector<Count> bars(nodes + 1);
  std::vector<char> covered(nodes + 1, 0);
  Cliques cliques;
  for (std::size_t turn = 0; turn < nodes; ++turn) {
    NodeId next{0};
    const auto urgency = [&](NodeId node) { return std::pair(bars[node.value], -graph.degree(node)); };
    for (NodeId node{1}; graph.Contains(node); ++node.value) {
      if (covered[node.value] == 0 && (next.value == 0 || urgency(node) > urgency(next))) next = node;
    }
    const std::vector<char>& no = barred[next.value];
    const auto clique = static_cast<std::size_t>(std::find(no.begin(), no.end(), 0) - no.begin());
    if (clique == cliques.size()) {
      cliques.emplace_back();
      for (auto& row : barred) row.push_back(0);
    }
    cliques[clique].push_back(next);
    covered[next.value] = 1;
    auto friends = graph.neighbours(next);
    for (NodeId node{1}; graph.Contains(node); ++node.value) {
      if (!friends.empty() && friends.front() == node) {
        friends = friends.subspan(1);
        continue;
      }
      if (barred[node.value][clique] != 0) continue;
      barred[node.value][clique] = 1;
      ++bars[node.value];
    }
  }
  return cliques;
}

// Branch and bound in DSATUR's order. Sets of nodes are bit masks.
class ExactSearch {
 public:
  using Mask = std::uint32_t;

  explicit ExactSearch(const Graph& graph) : nodes_(static_cast<int>(graph.nodes())) {
    for (int i = 0; i < nodes_; ++i) {
      around_.push_back(Mask{1} << i);
      for (const NodeId other : graph.neighbours({static_cast<std::uint32_t>(i) + 1})) {
        around_.back() |= Mask{1} << (other.value - 1);
      }
    }
  }

  Cliques Improve(Cliques best) {
    fewest_ = best.size();
    least_ = Strangers();
    Branch((Mask{1} << nodes_) - 1);
    if (found_.empty()) return best;
    best.clear();
    for (const Mask clique : found_) {
      best.emplace_back();
      for (int i = 0; i < nodes_; ++i) {
        if ((clique >> i & 1) != 0) best.back().push_back({static_cast<std::uint32_t>(i) + 1});
      }
    }
    return best;
  }

 private:
  // Returns a lower bound: the number of nodes in a set without two neighbours. Each of them needs its own
  // clique.
  std::size_t Strangers() const {
    std::size_t count = 0;
    Mask left = (Mask{1} << nodes_) - 1;
    while (left != 0) {
      int poorest = -1;
      for (int i = 0; i < nodes_; ++i) {
        if ((left >> i & 1) != 0 &&
            (poorest < 0 || std::popcount(around_[i] & left) < std::popcount(around_[poorest] & left))) {
          poorest = i;
        }
      }
      left &= ~around_[static_cast<std::size_t>(poorest)];
      ++count;
    }
    return count;
  }

  bool Fits(int node, Mask clique) const { return (clique & ~around_[static_cast<std::size_t>(node)]) == 0; }

  int NextOf(Mask left) const {
    int next = -1;
    std::pair<std::ptrdiff_t, int> best;
    for (int i = 0; i < nodes_; ++i) {
      if ((left >> i & 1) == 0) continue;
      const auto bars = std::count_if(open_.begin(), open_.end(), [&](Mask c) { return !Fits(i, c); });
      const std::pair<std::ptrdiff_t, int> urgency{
          bars, -std::popcount(around_[static_cast<std::size_t>(i)] & left)};
      if (next < 0 || urgency > best) std::tie(next, best) = std::pair(i, urgency);
    }
    return next;
  }

  void Branch(Mask left) {
    if (fewest_ == least_ || open_.size() >= fewest_) return;
    if (left == 0) {
      fewest_ = open_.size();
      found_ = open_;
      return;
    }
    const int node = NextOf(left);
    const Mask bit = Mask{1} << node;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      if (!Fits(node, open_[i])) continue;
      open_[i] |= bit;
      Branch(left & ~bit);
      open_[i] &= ~bit;
    }
    open_.push_back(bit);
    Branch(left & ~bit);
    open_.pop_back();
  }

  int nodes_;
  std::vector<Mask> around_;  // a node's neighbours and itself
  std::vector<Mask> open_;    // the cliques so far
  std::vector<Mask> found_;
  std::size_t fewest_ = 0;
  std::size_t least_ = 0;
};

}  // namespace

Cliques GreedyCliqueCover(const Graph& graph) {
  Cliques best = FirstFit(graph);
  for (Cliques other : {FewestNeighboursFirst(graph), Dsatur(graph)}) {
    if (other.size() < best.size()) best = std::move(other);
  }
  return InOrder(std::move(best));
}

absl::StatusOr<Cliques> ExactCliqueCover(const Graph& graph) {
  if (graph.nodes() > kMostExactCover) {
    return InvalidField(Part::kFacts, "people", fmt::format("{}", graph.nodes()),
                        fmt::format("at most {}, for an exact clique cover", kMostExactCover));
  }
  return InOrder(ExactSearch(graph).Improve(GreedyCliqueCover(graph)));
}

Cliques CliqueCover(const Graph& graph) {
  if (graph.nodes() > kMostExactCover) return GreedyCliqueCover(graph);
  return ExactCliqueCover(graph).value();
}

}  // namespace bandana
