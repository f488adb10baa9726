#pragma once

#include <optional>
#include <span>
#include <vector>

#include "bandana/algorithms/arms/arm_agent.h"
#include "bandana/algorithms/arms/arm_schedule.h"
#include "bandana/federation/dissemination.h"
#include "bandana/federation/network_player.h"
#include "bandana/federation/observations.h"

/// DDP-MAB, P4's Algorithm 3: peers on a graph eliminate arms together, without a server. M is the number of
/// peers.
/// T. Li, L. Song, "Privacy-preserving communication-efficient federated multi-armed bandits", 2021.
///
///   paper                         here
///   agent i                       DdpMabPeer, node i
///   l_i^r(n)                      Dissemination::have
///   GIS, Algorithm 2              Dissemination, Protocol::kGis
///   t_delay                       DisseminationClock::Slots - 1 waiting pulls
///   Lines 9 and 10                DdpMabPeer::Decide
///
/// An agent that is alone (single-mab) is a peer on a graph without edges.
///
/// Departures. How long a sync takes follows from the graph, which is public, so no clock watches
/// everybody's lists. A peer that lacks somebody's tally decides by the tallies that it has, with a wider
/// width. If another peer's next tally lacks an arm, that arm is dropped here too, so that all peers have the
/// same arms again once messages get through. A peer with one arm left pulls it until the end and is silent
/// from then on.
namespace bandana {

class DdpMabPeer final : public NetworkPlayer {
 public:
  /// All references must outlive the peer. ArmAgent explains `leak`.
  DdpMabPeer(NodeId self, const ArmSchedule& schedule, const DisseminationClock& clock,
             const SiloArmSums& privatizer, std::optional<Declassify> leak = std::nullopt);

  absl::Status OnMessage(Context& context, const Message& message) override;
  std::span<const Pull> Act(Context& context) override;
  absl::Status Observe(Context& context, const Raw<RewardSums>& rewards) override;
  absl::Status EndTick(Context& context) override;
  void OnSilence(Context& context) override;
  bool finished() const override { return agent_.left() == 0; }
  bool waiting() const override { return agent_.waits(); }
  void Describe(Observations& observations) const override;

  const ArmAgent& agent() const { return agent_; }
  const std::vector<ArmRound>& history() const { return history_; }

  std::string Save() const override;
  absl::Status Restore(std::string_view saved) override;
  template <class Archive>
  void State(Archive& a) {
    a.Same(schedule_->params().arms, "number of arms");
    a(agent_, spreading_, active_, best_, round_, pulled_, slots_, tick_, prepared_, over_, failed_,
      history_);
    a.Check([&] { return Fits(); }, "it does not match the arms of this run");
  }

 private:
  bool Fits() const;  // whether the state belongs to these arms
  absl::Status Prepare();
  absl::Status Decide();
  void BeginRound();

  const ArmSchedule* schedule_;
  const DisseminationClock* clock_;
  ArmAgent agent_;
  Dissemination spreading_;
  std::vector<ArmId> active_;
  ArmId best_ = 0;
  Epoch round_ = 0;
  Count pulled_ = 0;  // pulls of each active arm so far
  int slots_ = 0;     // slots that this sync takes
  int tick_ = -1;     // ticks since the exploration; -1: before the first one
  bool prepared_ = false;
  bool over_ = false;
  absl::Status failed_;
  std::vector<ArmRound> history_;
};

}  // namespace bandana
