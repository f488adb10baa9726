#include "bandana/lab/graphs.h"

#include <string>
#include <vector>

#include "bandana/core/bit_source.h"
#include "bandana/core/status.h"
#include "bandana/federation/graph_shapes.h"
#include "fmt/format.h"

namespace bandana::lab {
namespace {

absl::StatusOr<Graph> MakeShape(const Settings& settings, const std::string& shape, Count nodes,
                                CoinGen& coin) {
  const auto degree = [&] { return settings.Integer("federation.degree"); };
  const auto probability = [&] { return settings.Number("federation.edge_probability"); };
  if (shape == "complete") return CompleteGraph(nodes);
  if (shape == "star") return StarGraph(nodes);
  if (shape == "multi-star") return MultiStarGraph(nodes, degree());
  if (shape == "ring") return RingGraph(nodes);
  if (shape == "line") return LineGraph(nodes);
  if (shape == "grid") return GridGraph(nodes);
  if (shape == "regular") return RegularGraph(nodes, degree(), coin);
  if (shape == "erdos-renyi") return ErdosRenyiGraph(nodes, probability(), coin);
  if (shape == "watts-strogatz") return WattsStrogatzGraph(nodes, degree(), probability(), coin);
  if (shape == "barabasi-albert") return BarabasiAlbertGraph(nodes, degree(), coin);
  return ReadGraph(settings.Text("federation.file"), nodes);
}

PhiloxSource BitsOf(const Settings& settings) {
  return PhiloxSource(
      {.seed = static_cast<std::uint64_t>(settings.Integer("seed")), .stream = Stream::kInstance});
}

}  // namespace

Count AgentsOf(const Settings& settings) { return settings.Integer("federation.agents"); }

absl::StatusOr<Graph> MakeGraph(const Settings& settings) {
  PhiloxSource bits = BitsOf(settings);
  CoinGen coin(bits);
  BANDANA_ASSIGN_OR_RETURN(
      Graph graph, MakeShape(settings, settings.Text("federation.topology"), AgentsOf(settings), coin));
  BANDANA_RETURN_IF_ERROR(CheckConnected(graph));
  return graph;
}

absl::StatusOr<Graph> MakeComponents(const Settings& settings) {
  const Count agents = AgentsOf(settings);
  const std::string& shape = settings.Text("federation.component_topology");
  const auto* sizes = std::get_if<std::vector<std::int64_t>>(settings.Find("federation.components"));
  if (shape == "file") {
    if (sizes != nullptr) {
      return InvalidOption("federation.components", ToText(*settings.Find("federation.components")),
                           "auto with component_topology = \"file\": the graph has its own");
    }
    return ReadGraph(settings.Text("federation.file"), agents);
  }
  PhiloxSource bits = BitsOf(settings);
  CoinGen coin(bits);
  std::vector<Graph> components;
  Count sum = 0;
  for (const std::int64_t size : sizes == nullptr ? std::vector<std::int64_t>{agents} : *sizes) {
    // One alone, and two, are connected in one way.
    const std::string& own = size == 1 ? "complete" : size == 2 && shape == "ring" ? "line" : shape;
    BANDANA_ASSIGN_OR_RETURN(Graph component, MakeShape(settings, own, size, coin));
    if (!component.connected()) {
      return InvalidOption(
          "federation.component_topology", shape,
          fmt::format("one that connects the {} agents of a component, or another seed", size));
    }
    components.push_back(std::move(component));
    sum += size;
  }
  if (sum != agents) {
    return InvalidOption("federation.components", ToText(*settings.Find("federation.components")),
                         fmt::format("sizes that add up to federation.agents = {}, not to {}", agents, sum));
  }
  return JoinComponents(components);
}

}  // namespace bandana::lab
