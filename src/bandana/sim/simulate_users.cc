#include <limits>
#include <memory>
#include <utility>

#include "bandana/bandit/round_recorder.h"
#include "bandana/core/status.h"
#include "bandana/sim/simulate.h"
#include "bandana/sim/user_pairs.h"

namespace bandana::sim {
namespace {

// Everything of a checkpoint but what the recorder knows.
absl::StatusOr<Checkpoint> CheckpointOf(const UserRun& run, const UserLearner& learner, UserWorld& world) {
  constexpr Count kBitsPerReal = 64;
  Checkpoint now{.clients = run.rounds(), .reals = learner.RealsSent(run.rounds()), .rounds = run.rounds()};
  now.bits = kBitsPerReal * now.reals;
  now.series["clipped_contexts"] = static_cast<double>(run.out_of_range().contexts);
  now.series["clipped_rewards"] = static_cast<double>(run.out_of_range().rewards);
  now.series["eliminated"] = static_cast<double>(run.eliminated());
  now.series["estimation_error"] = world.EstimationError(learner.thetas());
  Observations observations;
  learner.Describe(observations);
  now.series.merge(observations.numbers);
  const auto greedy = [&](UserView& view) { return learner.Greedy(view); };
  BANDANA_RETURN_IF_ERROR(world.Measure(greedy, now.series));
  return now;
}

void TakeOver(const RoundRecorder& recorder, std::vector<Checkpoint>& checkpoints) {
  const std::vector<Checkpoint> recorded = recorder.Checkpoints();
  // Regret is not known if the world does not know its gaps. A world that has never had a round may be one.
  const bool known = checkpoints.back().rounds > 0 && recorded.back().regret == recorded.back().regret;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t i = 0; i < checkpoints.size(); ++i) {
    checkpoints[i].t = recorded[i].t;
    checkpoints[i].regret = known ? recorded[i].regret : kNan;
    checkpoints[i].best_action_rate = known ? recorded[i].best_action_rate : kNan;
  }
}

std::vector<Pull> PullsOf(const std::vector<ArmId>& decisions) {
  std::vector<Pull> pulls;
  pulls.reserve(decisions.size());
  for (const ArmId arm : decisions) pulls.push_back({arm, 1});
  return pulls;
}

}  // namespace

absl::StatusOr<Outcome> SimulateUsers(const Federation& federation, UserWorld& given,
                                      const SimulateOptions& options) {
  const std::unique_ptr<UserLearner> learner = std::get<UserRoles>(federation.roles).learner();
  const std::unique_ptr<UserWorld> cheaper = learner->looks_at_contexts() ? nullptr : given.ScoresOnly();
  UserWorld& world = cheaper != nullptr ? *cheaper : given;
  const std::unique_ptr<UserRun> run = MakeUserRun(
      {.seed = options.seed, .replicate = options.replicate, .stop = options.stop}, *learner, world);
  RoundRecorder recorder(1, options.checkpoints, options.decisions);
  Outcome outcome;
  for (const Count time : options.checkpoints) {
    BANDANA_RETURN_IF_ERROR(run->Run(time, recorder));
    BANDANA_ASSIGN_OR_RETURN(Checkpoint now, CheckpointOf(*run, *learner, world));
    outcome.checkpoints.push_back(std::move(now));
  }
  TakeOver(recorder, outcome.checkpoints);
  for (const auto& decisions : recorder.decisions()) outcome.decisions.push_back(PullsOf(decisions));
  return outcome;
}

}  // namespace bandana::sim
