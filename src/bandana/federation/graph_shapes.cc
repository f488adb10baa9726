#include "bandana/federation/graph_shapes.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "bandana/core/distributions.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

constexpr Count kMostPaired = 1 << 14;  // the most nodes for a shape that looks at all pairs

// Returns node i + 1.
NodeId NodeAt(Count i) { return {static_cast<std::uint32_t>(i) + 1}; }

absl::Status CheckNodes(Count nodes, Count least, Count most) {
  if (nodes >= least && nodes <= most) return absl::OkStatus();
  return InvalidField(Part::kFacts, "people", fmt::format("{}", nodes),
                      fmt::format("for this topology, a whole number from {} to {}", least, most));
}

absl::Status CheckProbability(double p) {
  if (p >= 0 && p <= 1) return absl::OkStatus();
  return InvalidField(Part::kParams, "edge_probability", p, "a number from 0 to 1");
}

absl::Status BadDegree(Count degree, std::string accepted) {
  return InvalidField(Part::kParams, "degree", fmt::format("{}", degree), std::move(accepted));
}

using Pair = std::pair<Count, Count>;

// A set of edges that answers whether two nodes are neighbours, while it grows and shrinks.
class Pairs {
 public:
  bool Has(Count a, Count b) const { return a == b || pairs_.contains(std::minmax(a, b)); }
  void Add(Count a, Count b) { pairs_.insert(std::minmax(a, b)); }
  void Remove(Count a, Count b) { pairs_.erase(std::minmax(a, b)); }

  absl::StatusOr<Graph> ToGraph(Count nodes) const {
    std::vector<Edge> edges;
    edges.reserve(pairs_.size());
    for (const auto& [a, b] : pairs_) edges.push_back({NodeAt(a), NodeAt(b)});
    return Graph::Create(nodes, edges);  // Create sorts them
  }

 private:
  absl::flat_hash_set<Pair> pairs_;
};

// Returns whether any two different nodes in `stubs` are not neighbours yet. A node is in `stubs` once per
// neighbour that it still lacks.
bool AnyPairFits(const std::vector<Count>& stubs, const Pairs& pairs) {
  std::vector<Count> nodes = stubs;
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (std::size_t j = i + 1; j < nodes.size(); ++j) {
      if (!pairs.Has(nodes[i], nodes[j])) return true;
    }
  }
  return false;
}

// Returns the edges of a graph in which every node has this degree, by pairing stubs. Returns nothing if the
// last few stubs cannot be paired.
std::optional<std::vector<Pair>> TryRegular(Count nodes, Count degree, CoinGen& coin) {
  Pairs pairs;
  std::vector<Pair> edges;
  std::vector<Count> stubs;
  stubs.reserve(static_cast<std::size_t>(nodes * degree));
  for (Count i = 0; i < nodes * degree; ++i) stubs.push_back(i % nodes);
  while (!stubs.empty()) {
    for (std::size_t left = stubs.size(); left > 1; --left) {
      std::swap(stubs[left - 1], stubs[UniformBelow(left, coin)]);
    }
    std::vector<Count> unpaired;
    for (std::size_t i = 0; i < stubs.size(); i += 2) {
      if (pairs.Has(stubs[i], stubs[i + 1])) {
        unpaired.insert(unpaired.end(), {stubs[i], stubs[i + 1]});
      } else {
        pairs.Add(stubs[i], stubs[i + 1]);
        edges.emplace_back(stubs[i], stubs[i + 1]);
      }
    }
    stubs = std::move(unpaired);
    if (!stubs.empty() && !AnyPairFits(stubs, pairs)) return std::nullopt;
  }
  return edges;
}

// Switches the ends of two edges at a time, if the result is a graph. This is a symmetric Markov chain on all
// graphs with these degrees, so its stationary distribution is uniform.
Pairs SwitchEnds(std::vector<Pair> edges, CoinGen& coin) {
  Pairs pairs;
  for (const auto& [a, b] : edges) pairs.Add(a, b);
  for (std::size_t turn = 0; edges.size() >= 2 && turn < 20 * edges.size(); ++turn) {
    Pair& one = edges[UniformBelow(edges.size(), coin)];
    Pair& other = edges[UniformBelow(edges.size(), coin)];
    if (UniformBelow(2, coin) == 1) std::swap(other.first, other.second);
    if (pairs.Has(one.first, other.second) || pairs.Has(other.first, one.second)) continue;
    pairs.Remove(one.first, one.second);
    pairs.Remove(other.first, other.second);
    std::swap(one.second, other.second);
    pairs.Add(one.first, one.second);
    pairs.Add(other.first, other.second);
  }
  return pairs;
}

}  // namespace

absl::StatusOr<Graph> CompleteGraph(Count nodes) {
  BANDANA_RETURN_IF_ERROR(CheckNodes(nodes, 1, kMostPaired));
  std::vector<Edge> edges;
  for (Count i = 0; i < nodes; ++i) {
    for (Count j = i + 1; j < nodes; ++j) edges.push_back({NodeAt(i), NodeAt(j)});
  }
  return Graph::Create(nodes, edges);
}

absl::StatusOr<Graph> StarGraph(Count nodes) {
  BANDANA_RETURN_IF_ERROR(CheckNodes(nodes, 1, Graph::kMostNodes));
  std::vector<Edge> edges;
  for (Count i = 1; i < nodes; ++i) edges.push_back({NodeAt(0), NodeAt(i)});
  return Graph::Create(nodes, edges);
}

absl::StatusOr<Graph> MultiStarGraph(Count nodes, Count hubs) {
  constexpr Count kMostHubs = 1 << 12;
  BANDANA_RETURN_IF_ERROR(CheckNodes(nodes, 1, Graph::kMostNodes));
  if (!(hubs >= 1 && hubs <= std::min(nodes, kMostHubs))) {
    return BadDegree(hubs, fmt::format("a number of hubs from 1 to {}", std::min(nodes, kMostHubs)));
  }
  std::vector<Edge> edges;
  for (Count i = 0; i < hubs; ++i) {
    for (Count j = i + 1; j < hubs; ++j) edges.push_back({NodeAt(i), NodeAt(j)});
  }
  for (Count i = hubs; i < nodes; ++i) edges.push_back({NodeAt(i % hubs), NodeAt(i)});
  return Graph::Create(nodes, edges);
}

absl::StatusOr<Graph> RingGraph(Count nodes) {
  BANDANA_RETURN_IF_ERROR(CheckNodes(nodes, 3, Graph::kMostNodes));
  std::vector<Edge> edges;
  for (Count i = 0; i < nodes; ++i) edges.push_back({NodeAt(i), NodeAt((i + 1) % nodes)});
  return Graph::Create(nodes, edges);
}

absl::StatusOr<Graph> LineGraph(Count nodes) {
  BANDANA_RETURN_IF_ERROR(CheckNodes(nodes, 1, Graph::kMostNodes));
  std::vector<Edge> edges;
  for (Count i = 1; i < nodes; ++i) edges.push_back({NodeAt(i - 1), NodeAt(i)});
  return Graph::Create(nodes, edges);
}

absl::StatusOr<Graph> GridGraph(Count nodes) {
  BANDANA_RETURN_IF_ERROR(CheckNodes(nodes, 1, Graph::kMostNodes));
  Count columns = 1;
  while (columns * columns < nodes) ++columns;
  std::vector<Edge> edges;
  for (Count i = 0; i < nodes; ++i) {
    if (i % columns != 0) edges.push_back({NodeAt(i - 1), NodeAt(i)});
    if (i >= columns) edges.push_back({NodeAt(i - columns), NodeAt(i)});
  }
  return Graph::Create(nodes, edges);
}

absl::StatusOr<Graph> RegularGraph(Count nodes, Count degree, CoinGen& coin) {
  BANDANA_RETURN_IF_ERROR(CheckNodes(nodes, 1, kMostPaired));
  if (!(degree >= 0 && degree < nodes && nodes * degree % 2 == 0)) {
    return BadDegree(degree,
                     fmt::format("a whole number from 0 to {}; its product with the {} agents must be even",
                                 nodes - 1, nodes));
  }
  const bool sparse = 2 * degree < nodes;
  std::optional<std::vector<Pair>> start;
  while (!start.has_value()) start = TryRegular(nodes, sparse ? degree : nodes - 1 - degree, coin);
  const Pairs drawn = SwitchEnds(*std::move(start), coin);
  if (sparse) return drawn.ToGraph(nodes);
  std::vector<Edge> edges;
  for (Count i = 0; i < nodes; ++i) {
    for (Count j = i + 1; j < nodes; ++j) {
      if (!drawn.Has(i, j)) edges.push_back({NodeAt(i), NodeAt(j)});
    }
  }
  return Graph::Create(nodes, edges);
}

absl::StatusOr<Graph> ErdosRenyiGraph(Count nodes, double edge_probability, CoinGen& coin) {
  BANDANA_RETURN_IF_ERROR(CheckNodes(nodes, 1, kMostPaired));
  BANDANA_RETURN_IF_ERROR(CheckProbability(edge_probability));
  std::vector<Edge> edges;
  for (Count i = 0; i < nodes; ++i) {
    for (Count j = i + 1; j < nodes; ++j) {
      if (UniformUnit(coin) < edge_probability) edges.push_back({NodeAt(i), NodeAt(j)});
    }
  }
  return Graph::Create(nodes, edges);
}

absl::StatusOr<Graph> WattsStrogatzGraph(Count nodes, Count degree, double edge_probability, CoinGen& coin) {
  BANDANA_RETURN_IF_ERROR(CheckNodes(nodes, 3, kMostPaired));
  BANDANA_RETURN_IF_ERROR(CheckProbability(edge_probability));
  if (!(degree >= 2 && degree < nodes && degree % 2 == 0)) {
    return BadDegree(degree, fmt::format("an even number from 2 to {}", nodes - 1));
  }
  Pairs pairs;
  std::vector<Count> degrees(static_cast<std::size_t>(nodes), degree);
  for (Count i = 0; i < nodes; ++i) {
    for (Count step = 1; step <= degree / 2; ++step) pairs.Add(i, (i + step) % nodes);
  }
  for (Count step = 1; step <= degree / 2; ++step) {
    for (Count i = 0; i < nodes; ++i) {
      const Count far = (i + step) % nodes;
      if (!(UniformUnit(coin) < edge_probability)) continue;
      if (degrees[static_cast<std::size_t>(i)] == nodes - 1) continue;  // it already neighbours every node
      Count moved_to = i;
      while (pairs.Has(i, moved_to)) {
        moved_to = static_cast<Count>(UniformBelow(static_cast<std::uint64_t>(nodes), coin));
      }
      pairs.Remove(i, far);
      pairs.Add(i, moved_to);
      --degrees[static_cast<std::size_t>(far)];
      ++degrees[static_cast<std::size_t>(moved_to)];
    }
  }
  return pairs.ToGraph(nodes);
}

absl::StatusOr<Graph> BarabasiAlbertGraph(Count nodes, Count degree, CoinGen& coin) {
  BANDANA_RETURN_IF_ERROR(CheckNodes(nodes, 2, kMostPaired));
  if (!(degree >= 1 && degree < nodes)) {
    return BadDegree(degree, fmt::format("a whole number from 1 to {}", nodes - 1));
  }
  std::vector<Edge> edges;
  std::vector<Count> ends;  // each node once per neighbour
  const auto add = [&](Count a, Count b) {
    edges.push_back({NodeAt(a), NodeAt(b)});
    ends.insert(ends.end(), {a, b});
  };
  for (Count i = 0; i <= degree; ++i) {
    for (Count j = i + 1; j <= degree; ++j) add(i, j);
  }
  for (Count i = degree + 1; i < nodes; ++i) {
    std::vector<Count> chosen;
    while (std::cmp_less(chosen.size(), degree)) {
      const Count candidate = ends[UniformBelow(ends.size(), coin)];
      if (std::find(chosen.begin(), chosen.end(), candidate) == chosen.end()) chosen.push_back(candidate);
    }
    for (const Count other : chosen) add(other, i);
  }
  return Graph::Create(nodes, edges);
}

}  // namespace bandana
