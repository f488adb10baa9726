#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bandana/algorithms/arm_agent.h"
#include "bandana/algorithms/arm_round.h"
#include "bandana/algorithms/arm_schedule.h"
#include "bandana/federation/network_player.h"
#include "bandana/federation/sink_keeper.h"
#include "bandana/privacy/arm_totals.h"

/// HDP-MAB and CDP-MAB: P4's Algorithms 5, 4 and 1. A server, and agents in components of which one each, its
/// sink, collects what the others have released. Where every agent is a component this is the master-worker
/// structure, CDP-MAB. T. Li, L. Song, "Privacy-preserving communication-efficient federated multi-armed
/// bandits", 2021.
///
///   paper                         here
///   server                        HdpMabServer, node 0
///   agent i                       HdpMabAgent, node i
///   SA_q, FindSinkAgents          FindRoutes
///   SAC                           an agent sends tallies to its ArmPlan::upstream, hop by hop
///   N = ceil(p M) participants    HdpMabParams::participants
///   Line 14, y_k(r)               Aggregation
///
/// Departures. Components count by their sizes (Aggregation::kWeighted; the printed mean of means goes wrong
/// where they differ in size and in rewards). An agent that was not drawn releases what it has when it is,
/// with one noise. Sums that do not arrive are left out, with a wider width; a sink that is not heard is
/// replaced, and those whose way led through a lost agent or link get another.
namespace bandana {

enum class Aggregation {
  kWeighted,    ///< every agent's pulls count alike
  kUnweighted,  ///< every sink's mean counts alike, as printed
};

struct HdpMabParams {
  Aggregation aggregation = Aggregation::kWeighted;
  Count participants = 0;  ///< drawn anew in every round, where every agent is a component; else all
};

class HdpMabServer final : public NetworkPlayer {
 public:
  /// `graph`: the components' links; agents are its nodes. References must outlive the server.
  HdpMabServer(const HdpMabParams& params, const ArmSchedule& schedule, const Graph& graph);

  absl::Status OnMessage(Context& context, const Message& message) override;
  std::span<const Pull> Act(Context&) override { return {}; }
  absl::Status Observe(Context&, const Raw<RewardSums>&) override { return absl::OkStatus(); }
  absl::Status EndTick(Context& context) override;
  void OnSilence(Context&) override { over_ = true; }
  bool finished() const override { return over_; }

  std::string Save() const override;
  absl::Status Restore(std::string_view saved) override;
  template <class Archive>
  void State(Archive& a) {
    a.Same(schedule_->params().arms, "number of arms");
    a.Same(schedule_->params().horizon, "horizon");
    a.Same(agents(), "number of agents");
    a.Same(params_.participants, "number of participants");
    a(active_, best_, round_, clock_, pulled_, ticks_left_, over_, sinks_, plan_, collected_, heard_,
      history_);
    a.Check([&] { return Fits(); }, "a server of other agents or arms");
  }

  const std::vector<ArmRound>& history() const { return history_; }
  const SinkRoutes& routes() const { return sinks_.routes(); }  ///< of the next round
  Count new_sinks() const { return sinks_.changes(); }          ///< rounds after which ways were found anew

 private:
  absl::Status Decide();
  void Announce(Context& context);
  Count agents() const { return graph_->nodes(); }
  bool Fits() const;  // to the agents and arms

  HdpMabParams params_;
  const ArmSchedule* schedule_;
  const Graph* graph_;
  std::vector<ArmId> active_;
  ArmId best_ = 0;
  Epoch round_ = 0;
  Count clock_ = 0;
  Count pulled_ = 0;
  int ticks_left_ = 0;  // until sums of the round are all here
  bool over_ = false;
  SinkKeeper sinks_;
  std::shared_ptr<const ArmPlan> plan_;
  std::vector<Collected> collected_;  // in this round, by sink
  NodeSet heard_;
  std::vector<ArmRound> history_;
};

class HdpMabAgent final : public NetworkPlayer {
 public:
  /// Arms are 0 .. arms - 1. `leak`: see ArmAgent. `privatizer` must outlive the agent.
  HdpMabAgent(NodeId self, Count agents, Count arms, Count horizon, const SiloArmSums& privatizer,
              std::optional<Declassify> leak = std::nullopt);

  absl::Status OnMessage(Context& context, const Message& message) override;
  std::span<const Pull> Act(Context& context) override;
  absl::Status Observe(Context& context, const Raw<RewardSums>& rewards) override;
  absl::Status EndTick(Context& context) override;
  void OnSilence(Context& context) override;
  bool finished() const override { return agent_.left() == 0; }

  const ArmAgent& agent() const { return agent_; }

  std::string Save() const override;
  absl::Status Restore(std::string_view saved) override;
  template <class Archive>
  void State(Archive& a) {
    a.Same(self_.value, "agent");
    a.Same(agents_, "number of agents");
    a.Same(arms_, "number of arms");
    a(agent_, plan_, upstream_, hop_, prepared_, held_);
    a.Check([&] { return Fits(); }, "an agent of others or of other arms");
  }

 private:
  bool Fits() const;  // to the agents and arms
  bool Fits(const ArmSums& sums) const;
  absl::Status TakePlan(const std::shared_ptr<const ArmPlan>& plan);
  absl::Status SendCollected(Context& context);
  bool is_sink() const { return upstream_ == kServerNode; }

  NodeId self_;
  Count agents_;
  Count arms_;
  ArmAgent agent_;
  std::shared_ptr<const ArmPlan> plan_;
  NodeId upstream_;
  int hop_ = -1;  // ticks since it explored; -1: it waits for a plan
  bool prepared_ = false;
  std::vector<Tally> held_;  // a sink's, or on their way
};

}  // namespace bandana
