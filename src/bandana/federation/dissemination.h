#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "bandana/federation/context.h"
#include "bandana/federation/graph.h"
#include "bandana/federation/messages.h"
#include "bandana/federation/node_set.h"

namespace bandana {

/// How peers on a graph come to hold everybody's tally.
enum class Protocol {
  kGis,       ///< P4's Algorithm 2: neighbours are told what there is, ask, and are sent what they lack
  kFlooding,  ///< what is new goes to all neighbours but the one it came from
  kGossip,    ///< in every slot a peer sends a neighbour, drawn by a public coin, what it has not yet sent it
};

/// How many slots a round of communication takes, which everybody knows beforehand: the graph, and gossip's
/// coins, are public. Not for several threads.
class DisseminationClock {
 public:
  /// `graph` must outlive it. `slack`: slots beyond what the graph takes, for ways that losses have made
  /// longer.
  DisseminationClock(const Graph& graph, Protocol protocol, int slack, std::uint64_t seed);

  const Graph& graph() const { return *graph_; }
  Protocol protocol() const { return protocol_; }
  int ticks_a_slot() const { return protocol_ == Protocol::kGis ? 3 : 1; }

  /// Until all have everything. The graph is connected, or has no edges, which takes none.
  int Slots(Epoch epoch) const;

  /// Gossip's neighbour of a node, of which it has at least one.
  NodeId Partner(NodeId node, Epoch epoch, int slot) const;

 private:
  int GossipSlots(Epoch epoch) const;

  const Graph* graph_;
  Protocol protocol_;
  int slack_;
  std::uint64_t seed_;
  int diameter_ = 0;
  mutable std::map<Epoch, int> gossip_slots_;
};

/// One peer's part in a round of it.
class Dissemination {
 public:
  /// `clock` must outlive it.
  Dissemination(const DisseminationClock& clock, NodeId self);

  void Begin(Epoch epoch, ReleasedArms own);

  /// Adverts, requests and tallies. What belongs to another round, or is there already, is dropped.
  absl::Status OnMessage(const Message& message);

  /// Sends what is due in this tick of the round, from 0; `now` is the sender's clock.
  void EndTick(Context& context, int tick, Count now);

  NodeId self() const { return self_; }
  const NodeSet& have() const { return have_; }
  const ReleasedArms& SumsOf(NodeId origin) const { return sums_[origin.value - 1]; }

  Count latest_clock() const { return latest_clock_; }  ///< of any message of this round

  template <class Archive>
  void State(Archive& a) {
    a.Same(self_.value, "peer");
    a(epoch_, latest_clock_, have_, news_, offers_, requests_, asked_, sent_);
    a.Sized(sums_, source_);
    a.Check([&] { return Fits(); }, "a peer of another graph");
  }

 private:
  struct Offer {
    NodeId from;
    std::shared_ptr<const NodeSet> has;
    NodeSet asked;  // of it in the last slot; empty: nothing

    template <class Archive>
    void State(Archive& a) {
      a(from, has, asked);
    }
  };

  bool Fits() const;  // to the graph

  void Take(const Message& message, const Tallies& data);
  void Advertise(Context& context, Count now);
  void Ask(Context& context);
  void Serve(Context& context, Count now);
  void Flood(Context& context, Count now);
  void Gossip(Context& context, int slot, Count now);
  Tallies Pack(const NodeSet& which, Count now) const;

  const DisseminationClock* clock_;
  NodeId self_;
  Epoch epoch_ = 0;
  Count latest_clock_ = 0;
  NodeSet have_;
  NodeSet news_;                                      // since it last told
  std::vector<ReleasedArms> sums_;                    // by origin
  std::vector<NodeId> source_;                        // flooding: who sent it first
  std::vector<Offer> offers_;                         // that may still be of use
  std::vector<std::pair<NodeId, NodeSet>> requests_;  // to be served
  NodeSet asked_;                                     // in this slot
  std::map<NodeId, NodeSet> sent_;                    // gossip
};

}  // namespace bandana
