#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/bandit/recorder.h"
#include "bandana/bandit/world.h"
#include "bandana/federation/failure.h"
#include "bandana/federation/federation.h"
#include "bandana/federation/graph.h"
#include "bandana/federation/observations.h"

/// Runs federations in this process.
namespace bandana {

struct SimulateOptions {
  std::uint64_t seed = 1;
  std::uint32_t replicate = 0;
  std::vector<Count> checkpoints = {};  ///< ascending rounds; empty: the horizon alone
  int threads = 1;                      ///< the outcome does not depend on it
  bool decisions = false;               ///< keep what every agent played
  std::vector<Failure> failures = {};   ///< ticks and rounds: what is lost
  /// Slots: the probability that a client who is asked never answers. Ticks and rounds: that an agent misses
  /// a sync. Independently.
  double dropout = 0;
  const std::atomic<bool>* stop = nullptr;  ///< ends the run with kCancelled soon after it turns true
};

/// The traffic over a network of agents in a run.
struct NetworkPicture {
  Count nodes = 0;
  bool server = false;
  std::vector<Edge> edges;
  std::vector<Count> edge_messages;
  std::vector<Count> uplink_messages;  ///< by agent
  std::vector<NodeId> sinks;
  std::vector<std::vector<NodeId>> components;
  std::vector<NodeId> lost_agents;
  std::vector<Edge> lost_links;
  Count lost_messages = 0;
  Count new_sinks = 0;  ///< syncs after which other ways to sinks were found
};

struct Outcome {
  std::vector<Checkpoint> checkpoints;
  std::vector<PhaseRecord> phases;           ///< of elimination
  std::vector<std::vector<Pull>> decisions;  ///< by agent, in their order, if asked for
  std::optional<NetworkPicture> network;     ///< of ticks
};

/// Runs a federation in a world, from the first round to the horizon. Fails if the world is of another time
/// model than the federation.
absl::StatusOr<Outcome> Simulate(const Federation& federation, World& world, const SimulateOptions& options);

namespace sim {

/// Simulate for each time model. The world must be of that model.
absl::StatusOr<Outcome> SimulateSlots(const Federation& federation, SlotWorld& world,
                                      const SimulateOptions& options);
absl::StatusOr<Outcome> SimulateRounds(const Federation& federation, RoundWorld& world,
                                       const SimulateOptions& options);
absl::StatusOr<Outcome> SimulateTicks(const Federation& federation, SlotWorld& world,
                                      const SimulateOptions& options);
absl::StatusOr<Outcome> SimulateUsers(const Federation& federation, UserWorld& world,
                                      const SimulateOptions& options);

}  // namespace sim
}  // namespace bandana
