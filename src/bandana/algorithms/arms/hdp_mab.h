#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bandana/algorithms/arms/arm_agent.h"
#include "bandana/algorithms/arms/arm_schedule.h"
#include "bandana/federation/network_player.h"
#include "bandana/federation/observations.h"
#include "bandana/federation/sink_keeper.h"
#include "bandana/privacy/arm_totals.h"

/// HDP-MAB and CDP-MAB, P4's Algorithms 5, 4 and 1: a server eliminates arms by the sums of agents. Agents
/// form components. One agent of each component, its sink, collects the sums that the others have released
/// and sends their total to the server. CDP-MAB, the master-worker structure, is the case in which every
/// agent is a component of its own.
/// T. Li, L. Song, "Privacy-preserving communication-efficient federated multi-armed bandits", 2021.
///
///   paper                         here
///   server                        HdpMabServer, node 0
///   agent i                       HdpMabAgent, node i
///   SA_q, FindSinkAgents          FindRoutes
///   SAC                           an agent sends tallies to its ArmPlan::upstream, hop by hop
///   N = ceil(p M) participants    HdpMabServerParams::participants, which counts components
///   Line 14, y_k(r)               Aggregation
///
/// Departures. Components count by their sizes (Aggregation::kWeighted); the printed mean of means is wrong
/// if components differ in size and in rewards. Agents of a component that was not drawn release everything
/// they have, with one noise, when it is drawn again. The paper draws agents only for CDP-MAB; for HDP-MAB it
/// treats sinks as participants, so components are drawn here. Sums that do not arrive are left out, and the
/// width is wider. A sink that is not heard is replaced, and agents whose route led through a lost agent or
/// link get another route.
namespace bandana {

enum class Aggregation {
  kWeighted,    ///< every agent's pulls count alike
  kUnweighted,  ///< every component's mean counts alike, as in the paper
};

struct HdpMabServerParams {
  Aggregation aggregation = Aggregation::kWeighted;
  /// Components that report in a sync, drawn anew each time.
  Count participants = 0;
};

class HdpMabServer final : public NetworkPlayer {
 public:
  /// The agents are the nodes of `graph`, and its edges link agents of a component. References must outlive
  /// the server.
  HdpMabServer(const HdpMabServerParams& params, const ArmSchedule& schedule, const Graph& graph);

  absl::Status OnMessage(Context& context, const Message& message) override;
  std::span<const Pull> Act(Context&) override { return {}; }
  absl::Status Observe(Context&, const Raw<RewardSums>&) override { return absl::OkStatus(); }
  absl::Status EndTick(Context& context) override;
  void OnSilence(Context&) override { over_ = true; }
  bool finished() const override { return over_; }
  void Describe(Observations& observations) const override;

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
    a.Check([&] { return Fits(); }, "it does not match the agents or arms of this run");
  }

  const std::vector<ArmRound>& history() const { return history_; }
  const SinkRoutes& routes() const { return sinks_.routes(); }  ///< for the next sync
  Count new_sinks() const { return sinks_.changes(); }          ///< syncs after which routes changed

 private:
  absl::Status Decide();
  void Announce(Context& context);
  Count agents() const { return graph_->nodes(); }
  bool Fits() const;  // whether the state belongs to these agents and arms

  HdpMabServerParams params_;
  const ArmSchedule* schedule_;
  const Graph* graph_;
  std::vector<std::vector<NodeId>> components_;
  std::vector<ArmId> active_;
  ArmId best_ = 0;
  Epoch round_ = 0;
  Count clock_ = 0;
  Count pulled_ = 0;
  int ticks_left_ = 0;  // until all sums of this sync should be here
  bool over_ = false;
  SinkKeeper sinks_;
  std::shared_ptr<const ArmPlan> plan_;
  std::vector<Collected> collected_;  // the totals of this sync, one per sink
  NodeSet heard_;
  std::vector<ArmRound> history_;
};

class HdpMabAgent final : public NetworkPlayer {
 public:
  /// Arms are 0 .. arms - 1. ArmAgent explains `leak`. `privatizer` must outlive the agent.
  HdpMabAgent(NodeId self, Count agents, Count arms, Count horizon, const SiloArmSums& privatizer,
              std::optional<Declassify> leak = std::nullopt);

  absl::Status OnMessage(Context& context, const Message& message) override;
  std::span<const Pull> Act(Context& context) override;
  absl::Status Observe(Context& context, const Raw<RewardSums>& rewards) override;
  absl::Status EndTick(Context& context) override;
  void OnSilence(Context& context) override;
  bool finished() const override { return agent_.left() == 0; }
  bool waiting() const override { return agent_.waits(); }
  void Describe(Observations& observations) const override { agent_.Describe(observations); }

  const ArmAgent& agent() const { return agent_; }

  std::string Save() const override;
  absl::Status Restore(std::string_view saved) override;
  template <class Archive>
  void State(Archive& a) {
    a.Same(self_.value, "agent number");
    a.Same(agents_, "number of agents");
    a.Same(arms_, "number of arms");
    a(agent_, plan_, upstream_, hop_, prepared_, held_);
    a.Check([&] { return Fits(); }, "it does not match the agents or arms of this run");
  }

 private:
  bool Fits() const;  // whether the state belongs to these agents and arms
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
  int hop_ = -1;  // ticks since the exploration; -1: it waits for a plan
  bool prepared_ = false;
  std::vector<Tally> held_;  // tallies that it has collected, or will pass on
};

}  // namespace bandana
