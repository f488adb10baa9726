#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "bandana/federation/context.h"
#include "bandana/federation/graph.h"
#include "bandana/federation/messages.h"
#include "bandana/federation/node_set.h"

namespace bandana {

/// How peers on a graph spread their tallies until every peer has all of them. One such exchange is a sync;
/// P4 calls it a communication round.
enum class Protocol {
  /// P4's Algorithm 2: a peer advertises what is new to its neighbours, they request what they lack, and it
  /// sends that.
  kGis,
  /// A peer forwards what is new to all neighbours, except the one that it came from.
  kFlooding,
  /// In every slot a peer sends one neighbour what it has not sent it before. A public coin draws the
  /// neighbour.
  kGossip,
};

/// Computes how many slots a sync takes. All peers know it beforehand, because the graph and gossip's coins
/// are public. Threads may share it.
class DisseminationClock {
 public:
  /// `graph` must outlive this object. `slack`: extra slots, for routes that have become longer after losses.
  DisseminationClock(const Graph& graph, Protocol protocol, int slack, std::uint64_t seed);

  const Graph& graph() const { return *graph_; }
  Protocol protocol() const { return protocol_; }
  int ticks_a_slot() const { return protocol_ == Protocol::kGis ? 3 : 1; }

  /// Returns the number of slots until every peer has everything. The graph must be connected or have no
  /// edges; without edges the answer is 0.
  int Slots(Epoch epoch) const;

  /// Returns the neighbour to which `node` gossips in this slot. The node must have a neighbour.
  NodeId Partner(NodeId node, Epoch epoch, int slot) const;

 private:
  int GossipSlots(Epoch epoch) const;

  const Graph* graph_;
  Protocol protocol_;
  int slack_;
  std::uint64_t seed_;
  int diameter_ = 0;
  mutable std::mutex mutex_;
  mutable std::map<Epoch, int> gossip_slots_;  // guarded by mutex_
};

/// One peer's side of a sync.
class Dissemination {
 public:
  /// `clock` must outlive this object.
  Dissemination(const DisseminationClock& clock, NodeId self);

  void Begin(Epoch epoch, ReleasedArms own);

  /// Takes adverts, requests and tallies. Drops those of another sync, and tallies that it already has.
  absl::Status OnMessage(const Message& message);

  /// Sends what is due in this tick of the sync; ticks count from 0. `now` is the sender's clock.
  void EndTick(Context& context, int tick, Count now);

  NodeId self() const { return self_; }
  const NodeSet& have() const { return have_; }
  const ReleasedArms& SumsOf(NodeId origin) const { return sums_[origin.value - 1]; }

  Count latest_clock() const { return latest_clock_; }  ///< the largest clock in any message of this sync

  template <class Archive>
  void State(Archive& a) {
    a.Same(self_.value, "peer number");
    a(epoch_, latest_clock_, have_, news_, offers_, requests_, asked_, sent_);
    a.Sized(sums_, source_);
    a.Check([&] { return Fits(); }, "it does not match the graph of this run");
  }

 private:
  struct Offer {
    NodeId from;
    std::shared_ptr<const NodeSet> has;
    NodeSet asked;  // requested from it in the last slot; empty: nothing

    template <class Archive>
    void State(Archive& a) {
      a(from, has, asked);
    }
  };

  bool Fits() const;  // whether the state belongs to this graph

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
  NodeSet news_;                                      // origins not yet passed on
  std::vector<ReleasedArms> sums_;                    // by origin
  std::vector<NodeId> source_;                        // flooding: who sent each tally first
  std::vector<Offer> offers_;                         // offers that may still be useful
  std::vector<std::pair<NodeId, NodeSet>> requests_;  // requests not yet served
  NodeSet asked_;                                     // it has these, or has requested them in this slot
  std::map<NodeId, NodeSet> sent_;                    // gossip: what each neighbour was sent
};

}  // namespace bandana
