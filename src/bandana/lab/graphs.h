#pragma once

#include "absl/status/statusor.h"
#include "bandana/federation/graph.h"
#include "bandana/lab/settings.h"

/// From settings to the networks of agents. Graphs are the same for every replicate.
namespace bandana::lab {

Count AgentsOf(const Settings& settings);

/// Of peers (federation.topology); an error if it is not connected.
absl::StatusOr<Graph> MakeGraph(const Settings& settings);

/// Of components (federation.components, federation.component_topology), side by side; an error if one of
/// them is not connected, or if they do not add up to federation.agents.
absl::StatusOr<Graph> MakeComponents(const Settings& settings);

}  // namespace bandana::lab
