#include "bandana/algorithms/arms/ddp_mab.h"

#include <algorithm>
#include <numeric>

#include "bandana/core/archive.h"
#include "bandana/core/status.h"

namespace bandana {

DdpMabPeer::DdpMabPeer(NodeId self, const ArmSchedule& schedule, const DisseminationClock& clock,
                       const SiloArmSums& privatizer, std::optional<Declassify> leak)
    : schedule_(&schedule),
      clock_(&clock),
      agent_(schedule.params().horizon, privatizer, leak),
      spreading_(clock, self),
      active_(static_cast<std::size_t>(schedule.params().arms)) {
  std::iota(active_.begin(), active_.end(), 0);
}

std::string DdpMabPeer::Save() const { return SaveState(*this); }
absl::Status DdpMabPeer::Restore(std::string_view saved) { return RestoreState(saved, *this); }

bool DdpMabPeer::Fits() const {
  const Count arms = schedule_->params().arms;
  const bool pulls = std::all_of(agent_.pulls().begin(), agent_.pulls().end(),
                                 [&](const Pull& pull) { return pull.arm >= 0 && pull.arm < arms; });
  return pulls && AreArms(active_, arms) && best_ >= 0 && best_ < arms && pulled_ >= 0;
}

void DdpMabPeer::Describe(Observations& observations) const {
  agent_.Describe(observations);
  observations.arm_rounds.insert(observations.arm_rounds.end(), history_.begin(), history_.end());
}

absl::Status DdpMabPeer::OnMessage(Context&, const Message& message) { return spreading_.OnMessage(message); }

std::span<const Pull> DdpMabPeer::Act(Context&) {
  if (!prepared_ && failed_.ok()) failed_ = Prepare();
  prepared_ = true;
  return agent_.pulls();
}

absl::Status DdpMabPeer::Observe(Context&, const Raw<RewardSums>& rewards) { return agent_.Observe(rewards); }

// Chooses the pulls of this tick.
absl::Status DdpMabPeer::Prepare() {
  if (over_) return absl::OkStatus();
  if (tick_ < 0) {
    BeginRound();
  } else if (tick_ >= slots_ * clock_->ticks_a_slot()) {
    BANDANA_RETURN_IF_ERROR(Decide());
    agent_.Wait(active_, spreading_.latest_clock() - agent_.clock());  // others took longer
    BeginRound();
  } else if (tick_ % clock_->ticks_a_slot() == 0) {
    agent_.Wait(active_, 1);
  }
  return absl::OkStatus();
}

absl::Status DdpMabPeer::EndTick(Context& context) {
  BANDANA_RETURN_IF_ERROR(failed_);
  prepared_ = false;
  if (over_) return absl::OkStatus();
  if (tick_ == 0) {
    BANDANA_ASSIGN_OR_RETURN(ReleasedArms own, agent_.Release(context, round_, active_));
    spreading_.Begin(round_, std::move(own));
  }
  spreading_.EndTick(context, tick_, agent_.clock());
  ++tick_;
  return absl::OkStatus();
}

void DdpMabPeer::OnSilence(Context&) {
  over_ = true;
  agent_.PlayOut({&best_, 1});
}

void DdpMabPeer::BeginRound() {
  ++round_;
  tick_ = 0;
  slots_ = clock_->Slots(round_);
  const auto active = static_cast<Count>(active_.size());
  const Count pulls =
      schedule_->Next(round_, active, pulled_, agent_.left() - agent_.pending(), std::max(0, slots_ - 1));
  if (pulls > 0) {
    agent_.Explore(active_, pulls);
    pulled_ += pulls;
  } else {
    over_ = true;
    const std::span<const ArmId> best(&best_, 1);
    agent_.PlayOut(schedule_->ExploresToTheEnd(round_, active) ? active_ : best);
  }
}

absl::Status DdpMabPeer::Decide() {
  std::vector<const Released<ArmSums>*> tallies;
  spreading_.have().ForEach([&](NodeId origin) {
    const Released<ArmSums>* sums = spreading_.SumsOf(origin).get();
    if (sums->value().agents == 1 && sums->value().noise_scale == agent_.noise_scale())
      tallies.push_back(sums);
  });
  for (const auto* tally : tallies) {
    const std::vector<ArmId>& theirs = tally->value().arms;
    if (theirs == active_) continue;
    std::vector<ArmId> both;
    std::set_intersection(active_.begin(), active_.end(), theirs.begin(), theirs.end(),
                          std::back_inserter(both));
    if (!both.empty()) active_ = std::move(both);
  }
  ArmTotal total(active_);
  for (const auto* tally : tallies) {
    const std::vector<ArmId>& theirs = tally->value().arms;
    if (theirs == active_ || std::includes(theirs.begin(), theirs.end(), active_.begin(), active_.end())) {
      BANDANA_RETURN_IF_ERROR(total.Add(*tally));
    }
  }
  const Released<ArmSums> sums = total.Sums();
  const ArmSchedule::WeightedSums part{.sums = &sums.value()};
  ArmDecision decision = EliminateArms(*schedule_, round_, {&part, 1});
  active_ = std::move(decision.arms);
  best_ = decision.best;
  history_.push_back({round_, agent_.clock(), sums.value().agents, active_, best_, decision.half_width});
  return absl::OkStatus();
}

}  // namespace bandana
