#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/algorithms/user_frame.h"
#include "bandana/bandit/recorder.h"
#include "bandana/bandit/round_recorder.h"
#include "bandana/core/status.h"
#include "bandana/lab/settings.h"
#include "bandana/lab/spec.h"
#include "bandana/sim/user_simulator.h"

namespace bandana::lab {

/// Runs a learner of P5 in a world with a new user every round up to the horizon, or as far as the world
/// goes. `note` may add to each checkpoint, with learner and world as they are then; the rest of it is not
/// filled in yet.
template <class Learner, class World, class Note>
absl::StatusOr<std::vector<Checkpoint>> RunUserLearner(const Settings& settings, std::uint32_t replicate,
                                                       Learner& learner, World& world,
                                                       const std::atomic<bool>& stop, Note note) {
  const std::vector<Count> times = Checkpoints(settings);
  RoundRecorder recorder(1, times);
  sim::UserSimulator<Learner, World> simulator(
      {.seed = static_cast<std::uint64_t>(settings.Integer("seed")), .replicate = replicate, .stop = &stop},
      learner, world);
  const UserFrame& frame = learner.policy().frame();
  const auto reals = [&](Count users) {  // one slot each in the warm-up
    const Count warm = std::min(users, frame.warm_up_rounds());
    return learner.slot_reals() * (warm + frame.slots() * (users - warm));
  };
  std::vector<Checkpoint> checkpoints;
  for (const Count time : times) {
    BANDANA_RETURN_IF_ERROR(simulator.Run(time, recorder));
    Checkpoint now{.clients = simulator.rounds(), .rounds = simulator.rounds()};
    now.reals = reals(simulator.rounds());
    now.bits = 64 * now.reals;
    now.clipped_contexts = simulator.out_of_range().contexts;
    now.clipped_rewards = simulator.out_of_range().rewards;
    if constexpr (requires { learner.repairs(); }) now.repairs = learner.repairs();
    BANDANA_RETURN_IF_ERROR(note(now));
    checkpoints.push_back(now);
  }
  const std::vector<Checkpoint> recorded = recorder.Checkpoints();
  for (std::size_t i = 0; i < checkpoints.size(); ++i) {
    checkpoints[i].t = recorded[i].t;
    checkpoints[i].regret = recorded[i].regret;
    checkpoints[i].best_action_rate = recorded[i].best_action_rate;
  }
  return checkpoints;
}

template <class Learner, class World>
absl::StatusOr<std::vector<Checkpoint>> RunUserLearner(const Settings& settings, std::uint32_t replicate,
                                                       Learner& learner, World& world,
                                                       const std::atomic<bool>& stop) {
  return RunUserLearner(settings, replicate, learner, world, stop,
                        [](const Checkpoint&) { return absl::OkStatus(); });
}

}  // namespace bandana::lab
