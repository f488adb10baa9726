#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "bandana/core/ids.h"
#include "bandana/core/reward.h"
#include "bandana/federation/node_set.h"
#include "bandana/privacy/arm_sums.h"
#include "bandana/privacy/regression_sums.h"
#include "bandana/privacy/report.h"

namespace bandana {

/// From the server to a client: the pulls of an epoch, which the client observes, and the question that it
/// answers about them. Public.
struct Plan {
  Epoch epoch = 0;
  std::vector<Pull> pulls;
  MeanQuery query;  ///< one coordinate per pull

  template <class Archive>
  void State(Archive& a) {
    a(epoch, pulls, query);
  }
};

/// From the server to one client, where every round has its own client: pull the arm of this part once and
/// report that coordinate. A simulator may ask `clients` clients at once; the receiver is the first of them.
struct Task {
  std::shared_ptr<const Plan> plan;
  int part = 0;
  Count clients = 1;
};

/// From the server to the shuffler: assign the parts of a plan to clients first .. first + query.clients - 1,
/// so that nobody else knows who has which part, and mix the answers.
struct Deal {
  std::shared_ptr<const Plan> plan;
  NodeId first;
};

/// From a client to the server: the client's randomized contribution.
struct Share {
  Epoch epoch = 0;
  int hops = 0;
  Report report;
};

/// From the server to the shuffler: the clients whose reports it mixes in an epoch.
struct MixRequest {
  Epoch epoch = 0;
  MeanQuery query;
  std::vector<NodeId> clients;

  template <class Archive>
  void State(Archive& a) {
    a(epoch, query, clients);
  }
};

/// From the shuffler to the server: the reports of a mix request or deal after mixing, without their origins.
struct Mixed {
  Epoch epoch = 0;
  std::vector<Report> reports;
};

/// From a controller to each of its agents: the released sums so far, and how long to play by them.
struct Model {
  Epoch epoch = 0;      ///< the sync that follows; 1 before anything is known
  Count until = 0;      ///< the last round to play by this model
  bool answers = true;  ///< whether the agent sends a share after that round; false at the end of a run
  ReleasedSums sums;    ///< null before the first sync
};

/// From peer to neighbouring peer: the sums that `origin` has released about its own records.
struct Bulletin {
  NodeId origin;
  int group = 0;      ///< which estimator of the receiver it is for
  int hops_left = 0;  ///< how many more times it is passed on
  ReleasedSums sums;
};

/// Between peers: `origin` asks all members of its clique to release.
struct SyncRequest {
  NodeId origin;
  int group = 0;
  int hops_left = 0;
  Count round = 0;  ///< the round in which the request was made
};

/// Between peers, P4's ADV: the origins whose sums are new at the sender.
struct Advert {
  Epoch epoch = 0;
  Count clock = 0;                     ///< how many slots the sender has played
  std::shared_ptr<const NodeSet> has;  ///< shared by the adverts to all neighbours
};

/// Between peers, P4's REQ: the origins of an Advert whose sums the sender wants.
struct Request {
  Epoch epoch = 0;
  NodeSet wants;
};

/// The sum of all that one agent has released.
struct Tally {
  NodeId origin;
  ReleasedArms sums;

  template <class Archive>
  void State(Archive& a) {
    a(origin, sums);
    a.Check(sums != nullptr, "a tally has no sums");
  }
};

/// Between peers, P4's DATA; also from an agent towards its sink.
struct Tallies {
  Epoch epoch = 0;
  Count clock = 0;
  std::vector<Tally> tallies;
};

/// From a sink to the server: the sum of what its agents have released. A worker without a component is its
/// own sink.
struct Collected {
  Epoch epoch = 0;
  NodeSet agents;  ///< the agents in the sum
  ReleasedArms sums;

  template <class Archive>
  void State(Archive& a) {
    a(epoch, agents, sums);
    a.Check(sums != nullptr, "a collected sum is missing");
  }
};

/// From a server to every agent: what to play next, and how the results return to the server.
struct ArmPlan {
  Epoch epoch = 0;
  Count clock = 0;          ///< how many slots have passed
  std::vector<ArmId> arms;  ///< the arms that are not eliminated, ascending
  /// How often each of them is pulled. 0: the first arm is played until the end, and nothing more is sent.
  Count pulls = 0;
  int hops = 0;  ///< the length of the longest route to a sink
  /// Where agent i sends its tallies, at index i - 1: a neighbour on its route to a sink; kServerNode if it
  /// is a sink; its own id if it sends nothing in this sync.
  std::vector<NodeId> upstream;

  template <class Archive>
  void State(Archive& a) {
    a(epoch, clock, arms, pulls, hops, upstream);
  }
};

/// A plan goes to thousands of clients and is never changed, so it travels by reference.
using Payload = std::variant<std::shared_ptr<const Plan>, Share, std::shared_ptr<const MixRequest>, Mixed,
                             Task, Deal, Model, Bulletin, SyncRequest, Advert, Request, Tallies, Collected,
                             std::shared_ptr<const ArmPlan>>;

/// Delivered in (slot, origin, seq) order where the driver has a choice. Delivery is at least once: receivers
/// drop repeats by (origin, kind, epoch).
struct Message {
  NodeId from;
  NodeId origin;
  Slot slot = 0;
  Seq seq = 0;
  Payload body;
};

}  // namespace bandana
