#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/bandit/round_recorder.h"
#include "bandana/bandit/world.h"
#include "bandana/federation/failure.h"
#include "bandana/federation/graph.h"
#include "bandana/federation/network_player.h"
#include "bandana/federation/traffic.h"
#include "bandana/privacy/guarantee.h"

namespace bandana::sim {

struct NetworkSimParams {
  std::uint64_t seed = 0;
  std::uint32_t replicate = 0;
  DpGuarantee budget_per_agent;
  std::vector<Failure> failures;
  double dropout = 0;      ///< probability that an agent misses a sync, independently
  bool decisions = false;  ///< keep what every agent played
  const std::atomic<bool>* stop = nullptr;
};

/// The events of a network's run, beside regret and traffic.
struct NetworkRun {
  std::vector<NodeId> lost_agents;
  std::vector<Edge> lost_links;              ///< links on which a message was lost; the server is node 0
  Count lost_messages = 0;                   ///< messages that did not arrive
  double waiting_regret = 0;                 ///< regret of pulls made while messages were on their way
  std::vector<std::vector<Pull>> decisions;  ///< by agent, in their order, if asked for
};

/// Runs a server, if there is one, and agents in this process, as NetworkPlayer says. The agents are the
/// nodes of the graph. Messages are passed without copies. Regret comes from the world's Gap. All references
/// must outlive the call.
absl::StatusOr<NetworkRun> RunNetwork(const NetworkSimParams& params, const Graph& graph,
                                      NetworkPlayer* server, const std::vector<NetworkPlayer*>& agents,
                                      SlotWorld& world, RoundRecorder& recorder, Traffic& traffic);

}  // namespace bandana::sim
