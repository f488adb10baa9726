#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "bandana/bandit/arm_problem.h"
#include "bandana/bandit/environment.h"
#include "bandana/bandit/round_recorder.h"
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
  double dropout = 0;  ///< probability that an agent misses a round, independently
  const std::atomic<bool>* stop = nullptr;
};

/// What happened to a network.
struct NetworkLosses {
  std::vector<NodeId> agents;  ///< that are gone
  std::vector<Edge> links;     ///< over which something was lost; the server is node 0
  Count messages = 0;          ///< that did not get through
};

/// Runs a server, if there is one, and agents who are the graph's nodes, in this process, as NetworkPlayer
/// says. Messages are handed over by reference. All references must outlive the call.
absl::StatusOr<NetworkLosses> RunNetwork(const NetworkSimParams& params, const Graph& graph,
                                         NetworkPlayer* server, const std::vector<NetworkPlayer*>& agents,
                                         Environment& environment, const ArmProblem& problem,
                                         RoundRecorder& recorder, Traffic& traffic);

}  // namespace bandana::sim
