#pragma once

#include <vector>

#include "bandana/bandit/recorder.h"
#include "bandana/core/ids.h"

namespace bandana {

/// Records agents that each play their own rounds, and what they send. Agents are recorded separately, so
/// different threads may record different agents. Regret is the sum over agents. An agent that stops before
/// the end, or never starts, adds nothing for the rounds that it does not play.
class RoundRecorder {
 public:
  /// `checkpoints` must be ascending. Agents are nodes 1 .. agents. `decisions`: whether to keep every
  /// decision.
  RoundRecorder(Count agents, std::vector<Count> checkpoints, bool decisions = false);

  /// An agent's rounds must come in order.
  void Play(NodeId agent, Count round, ArmId arm, double gap) {
    Agent& each = agents_[agent.value - 1];
    while (each.at + 1 < times_.size() && round > times_[each.at]) ++each.at;
    each.regret[each.at] += gap;
    ++each.plays[each.at];
    if (gap <= 0) ++each.best[each.at];
    if (keeps_decisions_) decisions_[agent.value - 1].push_back(arm);
  }

  /// Equals `count` calls of Play for rounds first_round, first_round + 1, ..., all of this arm (regret up to
  /// rounding). It takes only the time to pass the checkpoints, or to keep the decisions.
  void PlayMany(NodeId agent, Count first_round, ArmId arm, Count count, double gap);

  /// Only one thread at a time may call these.
  void Send(Count round, Count reals, Count bits);
  void Synchronise(Count round);

  Count agents() const { return static_cast<Count>(agents_.size()); }
  std::vector<Checkpoint> Checkpoints() const;
  const std::vector<std::vector<ArmId>>& decisions() const {
    return decisions_;
  }  ///< one list per agent; empty if not kept

 private:
  struct Agent {
    std::size_t at = 0;
    std::vector<double> regret;  // by interval between two checkpoints
    std::vector<Count> plays;
    std::vector<Count> best;
  };
  struct Traffic {
    Count messages = 0;
    Count reals = 0;
    Count bits = 0;
    Count synchronisations = 0;
  };
  Traffic& At(Count round);

  std::vector<Count> times_;
  std::vector<Agent> agents_;
  std::vector<Traffic> traffic_;
  bool keeps_decisions_;
  std::vector<std::vector<ArmId>> decisions_;
  Count first_sync_ = 0;
};

}  // namespace bandana
