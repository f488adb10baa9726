#pragma once

#include <vector>

#include "bandana/federation/graph.h"
#include "bandana/federation/messages.h"

namespace bandana {

/// The communication cost of a network, counted from its messages. A link counts once for each slot in which
/// anything passes it, in either direction. A server's plans are broadcast: they count as messages, but use
/// no link.
struct TrafficCounts {
  Count messages = 0;
  Count links_server = 0;  ///< between an agent and the server
  Count links_peer = 0;    ///< between agents
  Count slots = 0;         ///< slots in which something other than a plan was sent
  Count reals = 0;
  Count bytes = 0;
  Count rounds = 0;  ///< syncs in which something was sent (P4's communication rounds)
};

class Traffic {
 public:
  /// The nodes of `graph` are the agents. It must outlive this object.
  explicit Traffic(const Graph& graph);

  /// Counts a message. `slot` is the number of the network's slot; `clock` is the number of slots since the
  /// beginning of the run. Neither may decrease.
  void Send(NodeId from, NodeId to, Slot slot, Count clock, const Payload& payload);

  const TrafficCounts& total() const { return total_; }

  /// Returns the counts up to the end of slot `clock`.
  TrafficCounts Until(Count clock) const;

  /// Return the number of messages over each of the graph's Edges(), and between each agent and the server.
  std::vector<Count> over_edges() const;
  const std::vector<Count>& over_uplinks() const { return uplinks_; }

 private:
  std::size_t LinkIndex(NodeId from, NodeId to) const;

  const Graph* graph_;
  std::vector<std::size_t> first_;    // where each node's neighbours begin in the lists below
  std::vector<std::size_t> smaller_;  // the place of the same link at its smaller node
  std::vector<Count> messages_;       // by sender and neighbour
  std::vector<Slot> last_used_;       // by link, at the place of its smaller node
  std::vector<Count> uplinks_;        // by agent
  std::vector<Slot> uplink_last_used_;
  TrafficCounts total_;
  std::vector<std::pair<Count, TrafficCounts>> log_;  // for each clock, the totals up to it
  Slot last_slot_ = -1;                               // the last slot with more than plans
  Epoch last_epoch_ = 0;
};

/// Returns the epoch of a message in a network with arms; 0 for other messages.
Epoch EpochOf(const Payload& payload);

}  // namespace bandana
