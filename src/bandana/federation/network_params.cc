#include "bandana/federation/network_params.h"

#include <utility>

#include "bandana/core/bit_source.h"
#include "bandana/core/status.h"
#include "bandana/federation/graph_shapes.h"
#include "fmt/format.h"

namespace bandana {
namespace {

std::vector<Spelling<GraphShape>> Shapes() {
  return {{"complete", GraphShape::kComplete, "Everybody is everybody's neighbour."},
          {"star", GraphShape::kStar, "Node 1 is the neighbour of all others."},
          {"multi-star", GraphShape::kMultiStar, "Some hubs share the other nodes among them."},
          {"ring", GraphShape::kRing, "Nodes form a circle."},
          {"line", GraphShape::kLine, "Nodes form a line."},
          {"grid", GraphShape::kGrid, "Nodes form a rectangle."},
          {"regular", GraphShape::kRegular, "A random graph in which every node has the same degree."},
          {"erdos-renyi", GraphShape::kErdosRenyi, "Each pair is joined with the edge probability."},
          {"watts-strogatz", GraphShape::kWattsStrogatz,
           "A ring with more neighbours, of which each edge is moved with the edge probability."},
          {"barabasi-albert", GraphShape::kBarabasiAlbert,
           "New nodes join nodes that have many neighbours already."},
          {"file", GraphShape::kFile, "The edges are read from a file."}};
}

bool HasDegree(GraphShape shape) {
  return shape == GraphShape::kMultiStar || shape == GraphShape::kRegular ||
         shape == GraphShape::kWattsStrogatz || shape == GraphShape::kBarabasiAlbert;
}
bool HasProbability(GraphShape shape) {
  return shape == GraphShape::kErdosRenyi || shape == GraphShape::kWattsStrogatz;
}

constexpr char kDegree[] =
    "How many neighbours a node has, how many edges a new node brings, or how many hubs a multi-star has.";
constexpr char kWithDegree[] = "with a multi-star, regular, watts-strogatz or barabasi-albert graph";
constexpr char kWithProbability[] = "with an erdos-renyi or watts-strogatz graph";
constexpr char kProbability[] = "The probability that a pair is joined, or that an edge is moved.";
constexpr char kFile[] = "The file of the graph's edges: two node numbers per line.";

template <class Params>
absl::StatusOr<Graph> MakeShape(const Params& params, GraphShape shape, Count nodes, CoinGen& coin) {
  switch (shape) {
    case GraphShape::kComplete:
      return CompleteGraph(nodes);
    case GraphShape::kStar:
      return StarGraph(nodes);
    case GraphShape::kMultiStar:
      return MultiStarGraph(nodes, params.degree);
    case GraphShape::kRing:
      return RingGraph(nodes);
    case GraphShape::kLine:
      return LineGraph(nodes);
    case GraphShape::kGrid:
      return GridGraph(nodes);
    case GraphShape::kRegular:
      return RegularGraph(nodes, params.degree, coin);
    case GraphShape::kErdosRenyi:
      return ErdosRenyiGraph(nodes, params.edge_probability, coin);
    case GraphShape::kWattsStrogatz:
      return WattsStrogatzGraph(nodes, params.degree, params.edge_probability, coin);
    case GraphShape::kBarabasiAlbert:
      return BarabasiAlbertGraph(nodes, params.degree, coin);
    case GraphShape::kFile:
      return ReadGraph(params.file, nodes);
  }
  return absl::InternalError("the topology has an unknown value");
}

std::string NameOf(GraphShape shape) {
  for (const Spelling<GraphShape>& each : Shapes()) {
    if (each.value == shape) return each.word;
  }
  return "";
}

PhiloxSource GraphBits(std::uint64_t seed) {
  return PhiloxSource({.seed = seed, .stream = Stream::kInstance});
}

}  // namespace

OptionsFor<PeerNetworkParams> PeerNetworkOptions() {
  using P = PeerNetworkParams;
  OptionsFor<P> options("federation");
  options.Choice<GraphShape>("topology", Claims::kKept, &P::topology, Shapes(), "Which peers are neighbours.")
      .Integer("degree", Claims::kKept, &P::degree, 1, kDegree)
      .When([](const P& p) { return HasDegree(p.topology); }, kWithDegree)
      .Number("edge_probability", Claims::kKept, &P::edge_probability, InClosed(0, 1), "a number in [0, 1]",
              kProbability)
      .When([](const P& p) { return HasProbability(p.topology); }, kWithProbability)
      .Path("file", Claims::kKept, &P::file, kFile)
      .Required()
      .When([](const P& p) { return p.topology == GraphShape::kFile; }, "with topology = file");
  return options;
}

OptionsFor<ComponentParams> ComponentOptions() {
  using P = ComponentParams;
  OptionsFor<P> options("federation");
  options
      .Integers("components", Claims::kKept, &P::components, 1,
                "The sizes of the components. auto: the components of the graph.")
      .Choice<GraphShape>("component_topology", Claims::kKept, &P::component_topology, Shapes(),
                          "Which agents of a component are neighbours.")
      .Integer("degree", Claims::kKept, &P::degree, 1, kDegree)
      .When([](const P& p) { return HasDegree(p.component_topology); }, kWithDegree)
      .Number("edge_probability", Claims::kKept, &P::edge_probability, InClosed(0, 1), "a number in [0, 1]",
              kProbability)
      .When([](const P& p) { return HasProbability(p.component_topology); }, kWithProbability)
      .Path("file", Claims::kKept, &P::file, kFile)
      .Required()
      .When([](const P& p) { return p.component_topology == GraphShape::kFile; },
            "with component_topology = file");
  return options;
}

absl::StatusOr<Graph> MakePeerGraph(const PeerNetworkParams& params, Count peers, std::uint64_t seed) {
  PhiloxSource bits = GraphBits(seed);
  CoinGen coin(bits);
  BANDANA_ASSIGN_OR_RETURN(Graph graph, MakeShape(params, params.topology, peers, coin));
  BANDANA_RETURN_IF_ERROR(CheckConnected(graph));
  return graph;
}

absl::StatusOr<Graph> MakeComponentGraph(const ComponentParams& params, Count agents, std::uint64_t seed) {
  const GraphShape shape = params.component_topology;
  if (shape == GraphShape::kFile) {
    if (!params.components.empty()) {
      return InvalidField(
          Part::kParams, "components", ToText(params.components),
          "auto with component_topology = \"file\": the graph in the file has its own components");
    }
    return ReadGraph(params.file, agents);
  }
  PhiloxSource bits = GraphBits(seed);
  CoinGen coin(bits);
  std::vector<Graph> components;
  Count sum = 0;
  for (const std::int64_t size :
       params.components.empty() ? std::vector<std::int64_t>{agents} : params.components) {
    // There is only one way to connect one or two nodes.
    const GraphShape own = size == 1                                 ? GraphShape::kComplete
                           : size == 2 && shape == GraphShape::kRing ? GraphShape::kLine
                                                                     : shape;
    BANDANA_ASSIGN_OR_RETURN(Graph component, MakeShape(params, own, size, coin));
    if (!component.connected()) {
      return InvalidField(
          Part::kParams, "component_topology", NameOf(shape),
          fmt::format("a topology that connects the {} agents of a component, or another seed", size));
    }
    components.push_back(std::move(component));
    sum += size;
  }
  if (sum != agents) {
    return InvalidField(Part::kParams, "components", ToText(params.components),
                        fmt::format("sizes that add up to the number of agents, {}, not to {}", agents, sum));
  }
  return JoinComponents(components);
}

}  // namespace bandana
