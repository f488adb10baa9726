#include "bandana/bandit/round_recorder.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bandana/core/check.h"

namespace bandana {

RoundRecorder::RoundRecorder(Count agents, std::vector<Count> checkpoints, bool decisions)
    : times_(std::move(checkpoints)),
      agents_(static_cast<std::size_t>(agents)),
      traffic_(times_.size()),
      keeps_decisions_(decisions),
      decisions_(decisions ? static_cast<std::size_t>(agents) : 0) {
  BANDANA_CHECK(agents >= 1 && !times_.empty());
  for (Agent& agent : agents_) {
    agent.regret.assign(times_.size(), 0);
    agent.plays.assign(times_.size(), 0);
    agent.best.assign(times_.size(), 0);
  }
}

void RoundRecorder::PlayMany(NodeId agent, Count first_round, ArmId arm, Count count, double gap) {
  constexpr std::size_t kMostDecisions = std::size_t{1} << 32;  // 16 GiB for one agent
  BANDANA_CHECK(agent.value >= 1 && agent.value <= agents() && count >= 0);
  Agent& each = agents_[agent.value - 1];
  Count round = first_round;
  for (Count left = count; left > 0;) {
    while (each.at + 1 < times_.size() && round > times_[each.at]) ++each.at;
    const bool last = each.at + 1 == times_.size();
    const Count here = last ? left : std::min(left, times_[each.at] - round + 1);
    each.regret[each.at] += gap * static_cast<double>(here);
    each.plays[each.at] += here;
    if (gap <= 0) each.best[each.at] += here;
    round += here;
    left -= here;
  }
  if (!keeps_decisions_) return;
  std::vector<ArmId>& kept = decisions_[agent.value - 1];
  BANDANA_CHECK(std::cmp_less_equal(count, kMostDecisions - kept.size()));
  kept.insert(kept.end(), static_cast<std::size_t>(count), arm);
}

RoundRecorder::Traffic& RoundRecorder::At(Count round) {
  const auto it = std::lower_bound(times_.begin(), times_.end(), round);
  return traffic_[std::min(static_cast<std::size_t>(it - times_.begin()), times_.size() - 1)];
}

void RoundRecorder::Send(Count round, Count reals, Count bits) {
  Traffic& traffic = At(round);
  ++traffic.messages;
  traffic.reals += reals;
  traffic.bits += bits;
}

void RoundRecorder::Synchronise(Count round) {
  ++At(round).synchronisations;
  if (first_sync_ == 0) first_sync_ = round;
}

std::vector<Checkpoint> RoundRecorder::Checkpoints() const {
  std::vector<Checkpoint> checkpoints;
  Checkpoint now{.clients = agents()};
  Count plays = 0;
  Count best = 0;
  for (std::size_t i = 0; i < times_.size(); ++i) {
    now.t = times_[i];
    for (const Agent& agent : agents_) {
      now.regret += agent.regret[i];
      plays += agent.plays[i];
      best += agent.best[i];
    }
    now.reals += traffic_[i].reals;
    now.bits += traffic_[i].bits;
    now.rounds += traffic_[i].synchronisations;
    now.best_action_rate = plays == 0 ? 0 : static_cast<double>(best) / static_cast<double>(plays);
    if (std::isnan(now.regret)) now.best_action_rate = now.regret;  // nobody knows which arm is best
    const bool synced = first_sync_ > 0 && first_sync_ <= now.t;
    now.series["regret_per_agent"] = now.regret / static_cast<double>(agents());
    now.series["syncs"] = static_cast<double>(now.rounds);
    now.series["first_sync"] = synced ? static_cast<double>(first_sync_) : 0;
    checkpoints.push_back(now);
  }
  return checkpoints;
}

}  // namespace bandana
