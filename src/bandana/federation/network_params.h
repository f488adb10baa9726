#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/core/options.h"
#include "bandana/federation/graph.h"

/// The graphs of peers as a user chooses them, with their options in table "federation". Graphs are public
/// and the same for every replicate.
namespace bandana {

enum class GraphShape {
  kComplete,
  kStar,
  kMultiStar,
  kRing,
  kLine,
  kGrid,
  kRegular,
  kErdosRenyi,
  kWattsStrogatz,
  kBarabasiAlbert,
  kFile,
};

/// Peers on one connected graph.
struct PeerNetworkParams {
  GraphShape topology = GraphShape::kComplete;
  Count degree = 4;
  double edge_probability = 0.2;
  std::string file = {};
};

/// Components of agents, each of which is connected.
struct ComponentParams {
  std::vector<std::int64_t> components =
      {};  ///< their sizes; empty: all agents are one, or those of the file
  GraphShape component_topology = GraphShape::kComplete;
  Count degree = 4;
  double edge_probability = 0.2;
  std::string file = {};
};

OptionsFor<PeerNetworkParams> PeerNetworkOptions();
OptionsFor<ComponentParams> ComponentOptions();

/// Makes the graph of so many peers. Fails if it is not connected.
absl::StatusOr<Graph> MakePeerGraph(const PeerNetworkParams& params, Count peers, std::uint64_t seed);

/// Makes the components side by side. Fails if one of them is not connected, or if their sizes do not add up
/// to the agents.
absl::StatusOr<Graph> MakeComponentGraph(const ComponentParams& params, Count agents, std::uint64_t seed);

}  // namespace bandana
