#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bandana/bandit/world.h"
#include "bandana/core/reward.h"
#include "bandana/privacy/report.h"

namespace bandana {

/// The state of a run after round t.
struct Checkpoint {
  Count t = 0;
  double regret = 0;  ///< pseudo-regret: the sum of the gaps of the arms played
  Count clients = 0;
  Count reals = 0;              ///< numbers that clients have sent
  Count bits = 0;               ///< their size as the mechanism encodes them
  Count rounds = 0;             ///< syncs, or phases with reports
  double best_action_rate = 0;  ///< the fraction of rounds in which the best action was played
  /// Further metrics by name, as in results.csv. They depend on the time model: regret_per_agent, syncs,
  /// messages, clipped_rewards, value, ...
  std::map<std::string, double> series;
};

/// Follows a run and records its state at given times. The pulls of one call are played in the given order,
/// so a checkpoint inside a long plan costs no more than one at its end.
class Recorder {
 public:
  /// `checkpoints` must be ascending.
  Recorder(const SlotWorld& world, std::vector<Count> checkpoints)
      : Recorder([&world](ArmId arm) { return world.Gap(arm); },
                 [&world](ArmId arm) { return world.IsBest(arm); }, std::move(checkpoints)) {}

  /// Takes a problem that knows its gaps and its best arm.
  template <class Problem>
    requires requires(const Problem& problem) { problem.best(); }
  Recorder(const Problem& problem, std::vector<Count> checkpoints)
      : Recorder([&problem](ArmId arm) { return problem.Gap(arm); },
                 [&problem](ArmId arm) { return arm == problem.best(); }, std::move(checkpoints)) {}

  void Play(std::span<const Pull> pulls);

  /// Plays pulls in an unknown order. A checkpoint inside them gets its proportional share of each, which is
  /// the average over all orders.
  void PlayMixed(std::span<const Pull> pulls);

  /// Records the report of one client, or of several clients together, in an epoch.
  void Report(Epoch epoch, const bandana::Report& report) {
    Report(epoch, report.clients() * static_cast<Count>(report.size()), report.bits(), report.clients());
  }
  void Report(Epoch epoch, Count reals, Count bits, Count clients = 1);

  const std::vector<Checkpoint>& checkpoints() const { return passed_; }
  const Checkpoint& now() const { return now_; }

  /// Updates the checkpoint at the very end, which is recorded before the last reports arrive.
  void Finish();

 private:
  void Advance(double gap, double best, Count rounds);

  Recorder(std::function<double(ArmId)> gap, std::function<bool(ArmId)> is_best,
           std::vector<Count> checkpoints);

  std::function<double(ArmId)> gap_;
  std::function<bool(ArmId)> is_best_;
  std::vector<Count> times_;
  std::vector<Checkpoint> passed_;
  Checkpoint now_;
  double best_plays_ = 0;
  Epoch last_epoch_ = 0;
};

}  // namespace bandana
