#include "bandana/lab/users.h"

#include <memory>
#include <utility>

#include "bandana/bandit/user_rounds.h"
#include "bandana/core/status.h"
#include "bandana/lab/spec.h"
#include "bandana/lab/user_parts.h"
#include "bandana/sim/user_simulator.h"

namespace bandana::lab {
namespace {

// Optimists look at the contexts of all arms; the others at their scores alone.
template <class Learner>
constexpr bool kLooksAtAll = std::is_same_v<Learner, LdpUcb> || std::is_same_v<Learner, LdpGloc>;

template <class Learner, class World>
absl::StatusOr<std::vector<Checkpoint>> RunIn(const Settings& settings, std::uint32_t replicate,
                                              Learner& learner, World world, const std::atomic<bool>& stop) {
  const std::vector<Count> times = Checkpoints(settings);
  RoundRecorder recorder(1, times);
  sim::UserSimulator<Learner, World> simulator(
      {.seed = static_cast<std::uint64_t>(settings.Integer("seed")), .replicate = replicate, .stop = &stop},
      learner, world);
  std::vector<RangeCounts> out_of_range;
  std::vector<Count> repairs;
  for (const Count time : times) {
    BANDANA_RETURN_IF_ERROR(simulator.Run(time, recorder));
    out_of_range.push_back(simulator.out_of_range());
    if constexpr (requires { learner.repairs(); }) repairs.push_back(learner.repairs());
  }
  std::vector<Checkpoint> checkpoints = recorder.Checkpoints();
  const Count slots = learner.policy().frame().slots();
  for (std::size_t i = 0; i < checkpoints.size(); ++i) {
    Checkpoint& checkpoint = checkpoints[i];
    checkpoint.clipped_contexts = out_of_range[i].contexts;
    checkpoint.clipped_rewards = out_of_range[i].rewards;
    checkpoint.clients = checkpoint.rounds = checkpoint.t;
    checkpoint.reals = checkpoint.t * slots * learner.slot_reals();
    checkpoint.bits = 64 * checkpoint.reals;
    if (!repairs.empty()) checkpoint.repairs = repairs[i];
  }
  return checkpoints;
}

}  // namespace

absl::Status CheckUsers(const Settings& settings) {
  BANDANA_RETURN_IF_ERROR(MakeGlmProblem(settings, 0).status());
  BANDANA_ASSIGN_OR_RETURN(const UserSpace space, MakeUserSpace(settings));
  return WithUserLearner(settings, space, [](auto&) { return absl::OkStatus(); });
}

absl::StatusOr<std::vector<Claim>> UsersClaims(const Settings& settings) {
  BANDANA_ASSIGN_OR_RETURN(const UserSpace space, MakeUserSpace(settings));
  return UserClaims(settings, space);
}

absl::StatusOr<std::vector<Checkpoint>> RunUsers(const Settings& settings, std::uint32_t replicate,
                                                 const std::atomic<bool>& stop) {
  BANDANA_ASSIGN_OR_RETURN(const std::shared_ptr<const GlmProblem> problem,
                           MakeGlmProblem(settings, replicate));
  BANDANA_ASSIGN_OR_RETURN(const UserSpace space, MakeUserSpace(settings));
  const auto seed = static_cast<std::uint64_t>(settings.Integer("seed"));
  return WithUserLearner(
      settings, space, [&]<class Learner>(Learner& learner) -> absl::StatusOr<std::vector<Checkpoint>> {
        if constexpr (!kLooksAtAll<Learner>) {
          if (ProjectedRounds::Accepts(*problem)) {
            return RunIn(settings, replicate, learner, ProjectedRounds(problem, seed, replicate), stop);
          }
        }
        return RunIn(settings, replicate, learner, DrawnRounds(problem, seed, replicate), stop);
      });
}

}  // namespace bandana::lab
