#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/bandit/recorder.h"
#include "bandana/federation/graph.h"
#include "bandana/lab/settings.h"
#include "bandana/privacy/claim.h"

/// Experiments in which agents have arms in common: cdp-mab, ddp-mab, hdp-mab and agents by themselves.
namespace bandana::lab {

/// What went over a network in a run, for a drawing of it.
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
  Count new_sinks = 0;  ///< rounds after which other ways to sinks were found
};

struct ArmsOutcome {
  std::vector<Checkpoint> checkpoints;
  std::vector<std::vector<Pull>> pulls;  ///< of each agent, in their order, if asked for
  NetworkPicture picture;
};

/// That the point can be run. Errors name the key.
absl::Status CheckArms(const Settings& settings);

/// What whoever reads the results should know: where widths do not hold, for one.
std::vector<std::string> ArmsNotes(const Settings& settings);

absl::StatusOr<std::vector<Claim>> ArmsClaims(const Settings& settings);

absl::StatusOr<ArmsOutcome> RunArms(const Settings& settings, std::uint32_t replicate, bool pulls,
                                    const std::atomic<bool>& stop);

}  // namespace bandana::lab
