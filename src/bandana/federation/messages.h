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

/// Down: what is played in an epoch, and so what a client watches, and the question put to it. Public.
struct Plan {
  Epoch epoch = 0;
  std::vector<Pull> pulls;
  MeanQuery query;  ///< one coordinate a pull

  template <class Archive>
  void State(Archive& a) {
    a(epoch, pulls, query);
  }
};

/// Down, to one client, where every round has a client of its own: pull that part's arm once and answer that
/// coordinate. In a simulator a whole crowd, this client the first of them, may be asked at once.
struct Task {
  std::shared_ptr<const Plan> plan;
  int part = 0;
  Count clients = 1;
};

/// From the server to the shuffler: deal a plan's parts out to clients first .. first + query.clients - 1, so
/// that nobody else knows who has which, and mix what they answer.
struct Deal {
  std::shared_ptr<const Plan> plan;
  NodeId first;
};

/// Up: one client's randomized contribution.
struct Share {
  Epoch epoch = 0;
  int hops = 0;
  Report report;
};

/// From the server to the shuffler: whose reports to mix in an epoch.
struct Roll {
  Epoch epoch = 0;
  MeanQuery query;
  std::vector<NodeId> clients;

  template <class Archive>
  void State(Archive& a) {
    a(epoch, query, clients);
  }
};

/// From the shuffler to the server: what is left of a roll's reports when nobody can tell whose they are.
struct Mixed {
  Epoch epoch = 0;
  std::vector<Report> reports;
};

/// Down, from a controller to each of its agents: what is known, and how long to play by it.
struct Model {
  Epoch epoch = 0;      ///< of the synchronisation that follows; 1 before anything is known
  Count until = 0;      ///< the last round to be played by it
  bool answers = true;  ///< whether a share follows that round; not after the last round of a run
  ReleasedSums sums;    ///< null before the first synchronisation
};

/// Between peers, from neighbour to neighbour: what `origin` has released of its own records.
struct Bulletin {
  NodeId origin;
  int group = 0;      ///< which of its estimators it is for
  int hops_left = 0;  ///< how often it is still passed on
  ReleasedSums sums;
};

/// Between peers: `origin` asks all of its clique to release.
struct SyncRequest {
  NodeId origin;
  int group = 0;
  int hops_left = 0;
  Count round = 0;  ///< in which it was asked
};

/// Between peers, P4's ADV: whose sums are new here.
struct Advert {
  Epoch epoch = 0;
  Count clock = 0;                     ///< slots that its sender has played
  std::shared_ptr<const NodeSet> has;  ///< the same for all neighbours
};

/// Between peers, P4's REQ: whose sums of an Advert are wanted.
struct Request {
  Epoch epoch = 0;
  NodeSet wants;
};

/// What one agent has released, all its releases together.
struct Tally {
  NodeId origin;
  ReleasedArms sums;

  template <class Archive>
  void State(Archive& a) {
    a(origin, sums);
    a.Check(sums != nullptr, "a tally of nothing");
  }
};

/// From agent to agent, P4's DATA, and on the way to a sink.
struct Tallies {
  Epoch epoch = 0;
  Count clock = 0;
  std::vector<Tally> tallies;
};

/// From a sink to the server: what its agents have released, in sum. A worker without a component is its own.
struct Collected {
  Epoch epoch = 0;
  NodeSet agents;  ///< whose sums are in it
  ReleasedArms sums;

  template <class Archive>
  void State(Archive& a) {
    a(epoch, agents, sums);
    a.Check(sums != nullptr, "a sum of nothing");
  }
};

/// Down, from a server to every agent: what to play next, and how what comes of it gets back.
struct ArmPlan {
  Epoch epoch = 0;
  Count clock = 0;          ///< slots that have passed
  std::vector<ArmId> arms;  ///< still in question, ascending
  Count pulls = 0;  ///< of each of them; 0: the first is played to the end, and nothing is asked any more
  int hops = 0;     ///< of the longest way to a sink
  /// Where agent i, at place i - 1, sends what it has: a neighbour on its way to a sink; kServerNode: it is a
  /// sink; itself: nowhere this time.
  std::vector<NodeId> upstream;

  template <class Archive>
  void State(Archive& a) {
    a(epoch, clock, arms, pulls, hops, upstream);
  }
};

/// A plan goes to thousands of clients and is never changed, so it travels by reference.
using Payload =
    std::variant<std::shared_ptr<const Plan>, Share, std::shared_ptr<const Roll>, Mixed, Task, Deal, Model,
                 Bulletin, SyncRequest, Advert, Request, Tallies, Collected, std::shared_ptr<const ArmPlan>>;

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
