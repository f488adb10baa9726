#pragma once

#include <vector>

#include "bandana/federation/graph.h"
#include "bandana/federation/messages.h"

namespace bandana {

/// What was sent in a network, counted from the messages. A link is built for a slot by whatever goes through
/// it then, in either direction. A server's plans are broadcast: they are messages, and build no link.
struct TrafficCounts {
  Count messages = 0;
  Count links_server = 0;  ///< between an agent and the server
  Count links_peer = 0;    ///< between agents
  Count slots = 0;         ///< in which something was sent
  Count reals = 0;
  Count bytes = 0;
  Count rounds = 0;  ///< of communication
};

class Traffic {
 public:
  /// `graph` must outlive it: agents are its nodes.
  explicit Traffic(const Graph& graph);

  /// In the network's slot of that number, `clock` slots after the beginning of the run. Neither goes back.
  void Send(NodeId from, NodeId to, Slot slot, Count clock, const Payload& payload);

  const TrafficCounts& total() const { return total_; }

  /// Of what was sent before slot `clock` was over.
  TrafficCounts Until(Count clock) const;

  /// Messages over each of the graph's Edges(), and between each agent and the server.
  std::vector<Count> over_edges() const;
  const std::vector<Count>& over_uplinks() const { return uplinks_; }

 private:
  std::size_t PlaceOf(NodeId from, NodeId to) const;

  const Graph* graph_;
  std::vector<std::size_t> first_;    // of a node's neighbours in the lists below
  std::vector<std::size_t> smaller_;  // of each place that of the same link at its smaller node
  std::vector<Count> messages_;       // by sender and neighbour
  std::vector<Slot> last_used_;       // at the place of the smaller node
  std::vector<Count> uplinks_;        // by agent
  std::vector<Slot> uplink_last_used_;
  TrafficCounts total_;
  std::vector<std::pair<Count, TrafficCounts>> log_;  // by clock: totals up to it
  Slot last_slot_ = -1;                               // with more than plans
  Epoch last_epoch_ = 0;
};

/// The round that a message of a network belongs to; 0: none.
Epoch EpochOf(const Payload& payload);

}  // namespace bandana
