#include "bandana/federation/graph.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

constexpr const char* kKey = "topology";

absl::Status CheckNodes(Count nodes) {
  if (nodes >= 1 && nodes <= Graph::kMostNodes) return absl::OkStatus();
  return InvalidField(Part::kFacts, "people", fmt::format("{}", nodes),
                      fmt::format("a whole number from 1 to {}", Graph::kMostNodes));
}

// Accepts every edge once.
class EdgeCheck {
 public:
  explicit EdgeCheck(Count nodes) : nodes_(nodes) {}

  absl::Status Add(const Edge& edge) {
    for (const NodeId node : {edge.a, edge.b}) {
      if (node.value < 1 || node.value > nodes_)
        return Bad(edge, fmt::format("there is no node {}", node.value));
    }
    if (edge.a == edge.b) return Bad(edge, "this edge is a self loop");
    if (!seen_.insert({std::min(edge.a, edge.b), std::max(edge.a, edge.b)}).second) {
      return Bad(edge, "this edge was given already");
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Bad(const Edge& edge, std::string what) const {
    return InvalidInput({.message = std::move(what),
                         .key = kKey,
                         .value = fmt::format("{} {}", edge.a.value, edge.b.value),
                         .accepted = fmt::format(
                             "an edge between two different nodes from 1 to {}, given only once", nodes_)});
  }

  Count nodes_;
  absl::flat_hash_set<std::pair<NodeId, NodeId>> seen_;
};

std::size_t IndexOf(NodeId node) { return node.value - 1; }

absl::StatusOr<Edge> EdgeOf(const std::string& text) {
  const std::vector<std::string> words = absl::StrSplit(text, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
  Edge edge;
  if (words.size() == 2 && absl::SimpleAtoi(words[0], &edge.a.value) &&
      absl::SimpleAtoi(words[1], &edge.b.value)) {
    return edge;
  }
  return InvalidInput(
      {.message = "not an edge",
       .key = kKey,
       .value = text,
       .accepted = "two node numbers per line, separated by blanks; a comment starts with #"});
}

}  // namespace

absl::StatusOr<Graph> Graph::Create(Count nodes, std::span<const Edge> edges) {
  BANDANA_RETURN_IF_ERROR(CheckNodes(nodes));
  EdgeCheck check(nodes);
  for (const Edge& edge : edges) BANDANA_RETURN_IF_ERROR(check.Add(edge));
  return Graph(nodes, edges);
}

Graph::Graph(Count nodes, std::span<const Edge> edges)
    : first_(static_cast<std::size_t>(nodes) + 1), ends_(2 * edges.size()) {
  for (const Edge& edge : edges) {
    ++first_[IndexOf(edge.a) + 1];
    ++first_[IndexOf(edge.b) + 1];
  }
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  std::vector<std::size_t> next = first_;
  for (const Edge& edge : edges) {
    ends_[next[IndexOf(edge.a)]++] = edge.b;
    ends_[next[IndexOf(edge.b)]++] = edge.a;
  }
  for (std::size_t i = 0; i + 1 < first_.size(); ++i) {
    std::sort(ends_.data() + first_[i], ends_.data() + first_[i + 1]);
  }
}

std::span<const NodeId> Graph::neighbours(NodeId node) const {
  BANDANA_CHECK(Contains(node));
  const std::size_t i = IndexOf(node);
  return std::span(ends_).subspan(first_[i], first_[i + 1] - first_[i]);
}

bool Graph::adjacent(NodeId a, NodeId b) const {
  const auto around = neighbours(a);
  return std::binary_search(around.begin(), around.end(), b);
}

std::vector<Edge> Graph::Edges() const {
  std::vector<Edge> edges;
  edges.reserve(ends_.size() / 2);
  for (NodeId node{1}; Contains(node); ++node.value) {
    for (const NodeId other : neighbours(node)) {
      if (node < other) edges.push_back({node, other});
    }
  }
  return edges;
}

std::vector<int> Graph::Distances(NodeId from, int most) const {
  BANDANA_CHECK(Contains(from));
  std::vector<int> distances(static_cast<std::size_t>(nodes()), kUnreachable);
  distances[IndexOf(from)] = 0;
  std::vector<NodeId> reached{from};
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const int here = distances[IndexOf(reached[i])];
    if (here >= most) break;
    for (const NodeId next : neighbours(reached[i])) {
      if (distances[IndexOf(next)] != kUnreachable) continue;
      distances[IndexOf(next)] = here + 1;
      reached.push_back(next);
    }
  }
  return distances;
}

int Graph::distance(NodeId a, NodeId b) const {
  BANDANA_CHECK(Contains(b));
  return Distances(a)[IndexOf(b)];
}

int Graph::eccentricity(NodeId node) const {
  const std::vector<int> distances = Distances(node);
  return *std::max_element(distances.begin(), distances.end());
}

int Graph::diameter() const {
  int largest = 0;
  for (NodeId node{1}; Contains(node) && largest != kUnreachable; ++node.value) {
    largest = std::max(largest, eccentricity(node));
  }
  return largest;
}

bool Graph::connected() const { return eccentricity(NodeId{1}) != kUnreachable; }

Graph Graph::Power(int gamma) const {
  BANDANA_CHECK(gamma >= 0);
  std::vector<Edge> edges;
  for (NodeId node{1}; Contains(node); ++node.value) {
    const std::vector<int> distances = Distances(node, gamma);
    for (NodeId other{node.value + 1}; Contains(other); ++other.value) {
      if (distances[IndexOf(other)] <= gamma) edges.push_back({node, other});
    }
  }
  return {nodes(), edges};
}

absl::Status CheckConnected(const Graph& graph) {
  const std::vector<int> distances = graph.Distances(NodeId{1});
  const auto cut_off = std::find(distances.begin(), distances.end(), Graph::kUnreachable);
  if (cut_off == distances.end()) return absl::OkStatus();
  return InvalidInput(
      {.message = "the graph is not connected",
       .key = kKey,
       .value = fmt::format("no path from node 1 to node {}", cut_off - distances.begin() + 1),
       .accepted = "a graph in which all agents can reach each other"});
}

std::vector<std::vector<NodeId>> Components(const Graph& graph) {
  std::vector<std::vector<NodeId>> components;
  std::vector<bool> reached(static_cast<std::size_t>(graph.nodes()));
  for (NodeId first{1}; graph.Contains(first); ++first.value) {
    if (reached[IndexOf(first)]) continue;
    reached[IndexOf(first)] = true;
    std::vector<NodeId> component{first};
    for (std::size_t i = 0; i < component.size(); ++i) {
      for (const NodeId next : graph.neighbours(component[i])) {
        if (reached[IndexOf(next)]) continue;
        reached[IndexOf(next)] = true;
        component.push_back(next);
      }
    }
    std::sort(component.begin(), component.end());
    components.push_back(std::move(component));
  }
  return components;
}

Graph Without(const Graph& graph, std::span<const NodeId> lost, std::span<const Edge> cut) {
  const absl::flat_hash_set<NodeId> gone(lost.begin(), lost.end());
  absl::flat_hash_set<std::pair<NodeId, NodeId>> broken;
  for (const auto& [a, b] : cut) broken.insert(std::minmax(a, b));
  std::vector<Edge> edges = graph.Edges();
  std::erase_if(edges, [&](const Edge& edge) {
    return gone.contains(edge.a) || gone.contains(edge.b) || broken.contains({edge.a, edge.b});
  });
  return Graph::Create(graph.nodes(), edges).value();
}

absl::StatusOr<Graph> JoinComponents(std::span<const Graph> graphs) {
  Count nodes = 0;
  for (const Graph& graph : graphs) nodes += graph.nodes();
  BANDANA_RETURN_IF_ERROR(CheckNodes(nodes));
  std::vector<Edge> edges;
  std::uint32_t before = 0;
  for (const Graph& graph : graphs) {
    for (const auto& [a, b] : graph.Edges()) edges.push_back({{a.value + before}, {b.value + before}});
    before += static_cast<std::uint32_t>(graph.nodes());
  }
  return Graph::Create(nodes, edges);
}

GraphCentre Centre(const Graph& graph, std::span<const NodeId> component) {
  BANDANA_CHECK(!component.empty());
  std::vector<Edge> edges;  // the component's edges, with its nodes numbered from 1
  for (std::size_t i = 0; i < component.size(); ++i) {
    BANDANA_CHECK(i == 0 || component[i - 1] < component[i]);
    for (const NodeId other : graph.neighbours(component[i])) {
      if (other < component[i]) continue;
      const auto at = std::lower_bound(component.begin(), component.end(), other);
      if (at == component.end() || *at != other) continue;
      edges.push_back(
          {{static_cast<std::uint32_t>(i) + 1}, {static_cast<std::uint32_t>(at - component.begin()) + 1}});
    }
  }
  const Graph alone = Graph::Create(static_cast<Count>(component.size()), edges).value();
  GraphCentre centre{component.front(), Graph::kUnreachable};
  int diameter = 0;  // a lower bound
  for (NodeId node{1}; alone.Contains(node); ++node.value) {
    const int eccentricity = alone.eccentricity(node);
    if (eccentricity < centre.eccentricity) centre = {component[IndexOf(node)], eccentricity};
    diameter = std::max(diameter, eccentricity);
    if (2 * static_cast<std::int64_t>(centre.eccentricity) <= diameter + std::int64_t{1})
      break;  // no node has a smaller eccentricity
  }
  return centre;
}

absl::StatusOr<Graph> ReadGraph(const std::string& path, Count nodes) {
  BANDANA_RETURN_IF_ERROR(CheckNodes(nodes));
  std::ifstream in(path);
  if (!in) {
    return InvalidField(Part::kParams, {.message = "cannot be opened",
                                        .key = "file",
                                        .value = path,
                                        .accepted = "a readable file with one edge per line"});
  }
  EdgeCheck check(nodes);
  std::vector<Edge> edges;
  int line_number = 0;
  for (std::string line; std::getline(in, line);) {
    ++line_number;
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const absl::StatusOr<Edge> edge = EdgeOf(line);
    if (!edge.ok()) return WithFile(edge.status(), path, line_number);
    if (const absl::Status added = check.Add(*edge); !added.ok()) return WithFile(added, path, line_number);
    edges.push_back(*edge);
  }
  if (in.bad()) {
    return InvalidField(Part::kParams, {.message = "cannot be read",
                                        .key = "file",
                                        .value = path,
                                        .accepted = "a file with one edge per line"});
  }
  return Graph::Create(nodes, edges);
}

}  // namespace bandana
