#pragma once

#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include "bandana/bandit/recorder.h"
#include "bandana/bandit/world.h"
#include "bandana/federation/federation.h"
#include "bandana/federation/topology.h"

namespace bandana::sim {

struct SimParams {
  std::uint64_t seed = 0;
  std::uint32_t replicate = 0;
  Topology topology;
  DpGuarantee budget_per_client;
  double dropout = 0;  ///< the probability that a client does not answer; then another one is asked
  bool groups = true;  ///< whether to draw the sum of many clients at once if only their coins differ
  const std::atomic<bool>* stop = nullptr;  ///< ends the run when it turns true; read once per slot
};

/// Runs a server, its clients and their shuffler, if there is one (null: none), in this process. A message
/// takes one slot; messages are delivered in (slot, origin, seq) order. All references must outlive the call.
absl::Status RunSlots(const SimParams& params, Node& server, Node* shuffler,
                      const Make<Player, NodeId>& client, const GroupAnswer& group, SlotWorld& world,
                      Recorder& recorder);

}  // namespace bandana::sim
