#pragma once

#include <vector>

#include "bandana/bandit/recorder.h"
#include "bandana/core/ids.h"

namespace bandana {

/// Follows agents that each play a round of their own: every agent by itself, so that different agents may be
/// followed by different threads, and what they send. Regret is the sum over agents. One that stops before
/// the end, or never starts, adds nothing from there on.
class RoundRecorder {
 public:
  /// `checkpoints` ascending. Agents are nodes 1 .. agents. `decisions`: keeps every one of them.
  RoundRecorder(Count agents, std::vector<Count> checkpoints, bool decisions = false);

  /// Rounds of an agent come in their order.
  void Play(NodeId agent, Count round, ArmId arm, double gap) {
    Agent& each = agents_[agent.value - 1];
    while (each.at + 1 < times_.size() && round > times_[each.at]) ++each.at;
    each.regret[each.at] += gap;
    ++each.plays[each.at];
    if (gap <= 0) ++each.best[each.at];
    if (keeps_decisions_) decisions_[agent.value - 1].push_back(arm);
  }

  /// `count` rounds from first_round on, all of this arm: what as many calls of Play come to (regret up to
  /// rounding), in the time that it takes to pass their checkpoints, or to keep their decisions.
  void PlayMany(NodeId agent, Count first_round, ArmId arm, Count count, double gap);

  /// By one thread at a time.
  void Send(Count round, Count reals, Count bits);
  void Synchronise(Count round);
  void Repair(Count repairs) { repairs_ += repairs; }  ///< of the whole run

  Count agents() const { return static_cast<Count>(agents_.size()); }
  std::vector<Checkpoint> Checkpoints() const;
  const std::vector<std::vector<ArmId>>& decisions() const {
    return decisions_;
  }  ///< by agent; empty if not kept

 private:
  struct Agent {
    std::size_t at = 0;
    std::vector<double> regret;  // between two checkpoints
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
  Count repairs_ = 0;
  Count first_sync_ = 0;
};

}  // namespace bandana
