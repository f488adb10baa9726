#pragma once

#include <span>
#include <vector>

#include "bandana/bandit/linear_problem.h"
#include "bandana/core/reward.h"
#include "bandana/privacy/report.h"

namespace bandana {

/// The state of a run after round t.
struct Checkpoint {
  Count t = 0;
  double regret = 0;  ///< pseudo-regret against theta
  Count clients = 0;
  Count reals = 0;              ///< numbers sent up
  Count bits = 0;               ///< what they take, as the mechanism encodes them
  Count rounds = 0;             ///< of communication
  double best_action_rate = 0;  ///< share of the rounds in which the best action was played
  Count agents = 1;             ///< who each play every round; regret is of all of them
  Count first_sync = 0;         ///< round of the first synchronisation; 0: none yet
  Count repairs = 0;            ///< Gram matrices that noise had left not positive definite
  // Of networks, counted from messages. The last four are of the whole run, and in its last row alone.
  Count messages = 0;
  Count links_server = 0;  ///< built between an agent and the server
  Count links_peer = 0;    ///< built between agents
  Count slots = 0;         ///< in which something was sent
  Count bytes = 0;
  double cost = 0;            ///< of the links
  double paper_cost = 0;      ///< by the paper's formula
  double waiting = 0;         ///< pulls of an agent while messages were on their way
  double waiting_regret = 0;  ///< of these pulls, of all agents
  Count lost_tallies = 0;     ///< agents' sums that somebody decided without
  Count disagreements = 0;    ///< rounds after which agents did not have the same arms left
  // Of users with local privacy: what was out of range.
  Count clipped_contexts = 0;
  Count clipped_rewards = 0;
  // Of a log: what the policy earns a round and where that is for certain enough, rounds on offer, and rounds
  // in which the log had the learner's choice.
  double value = 0;
  double value_low = 0;
  double value_high = 0;
  Count offered = 0;
  Count matched = 0;
};

/// Follows a run and notes its state at given times. Plays inside a call go in the order given, so a
/// checkpoint inside a long plan costs no more than one at its end.
class Recorder {
 public:
  /// `checkpoints` ascending.
  Recorder(const LinearProblem& problem, std::vector<Count> checkpoints);

  void Play(std::span<const Pull> pulls);

  /// The same in an order that nobody knows: a checkpoint inside it has its share of everything, which is
  /// what it has on average over all orders.
  void PlayMixed(std::span<const Pull> pulls);

  /// One client's report, or a crowd's, in a round of communication.
  void Report(Epoch epoch, const bandana::Report& report) {
    Report(epoch, report.clients() * static_cast<Count>(report.size()), report.bits(), report.clients());
  }
  void Report(Epoch epoch, Count reals, Count bits, Count clients = 1);

  const std::vector<Checkpoint>& checkpoints() const { return passed_; }
  const Checkpoint& now() const { return now_; }

  /// The checkpoint at the very end is noted before the last reports are in; this brings it up to date.
  void Finish();

 private:
  void Advance(double gap, double best, Count rounds);

  const LinearProblem& problem_;
  std::vector<Count> times_;
  std::vector<Checkpoint> passed_;
  Checkpoint now_;
  double best_plays_ = 0;
  Epoch last_epoch_ = 0;
};

}  // namespace bandana
