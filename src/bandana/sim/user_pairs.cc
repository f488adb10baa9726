#include "bandana/sim/user_pairs.h"

#include "bandana/algorithms/users/ldp_gloc.h"
#include "bandana/algorithms/users/ldp_ols.h"
#include "bandana/algorithms/users/ldp_sgd.h"
#include "bandana/algorithms/users/ldp_ucb.h"
#include "bandana/algorithms/users/thompson_sampling.h"
#include "bandana/bandit/worlds/lending_rounds.h"
#include "bandana/bandit/worlds/logged_rounds.h"
#include "bandana/bandit/worlds/user_rounds.h"

namespace bandana::sim {
namespace {

// Makes the run of this pair if learner and world are of these classes.
template <class Learner, class World>
bool TryPair(const UserSimParams& params, UserLearner& learner, UserWorld& world,
             std::unique_ptr<UserRun>& run) {
  auto* own_learner = dynamic_cast<UserLearnerOf<Learner>*>(&learner);
  auto* own_world = dynamic_cast<World*>(&world);
  if (own_learner == nullptr || own_world == nullptr) return false;
  run = std::make_unique<UserSimulator<Learner, World>>(params, own_learner->learner(), *own_world);
  return true;
}

template <class Learner>
bool TryWorlds(const UserSimParams& params, UserLearner& learner, UserWorld& world,
               std::unique_ptr<UserRun>& run) {
  if constexpr (!Learner::kLooksAtContexts) {
    if (TryPair<Learner, ProjectedRounds>(params, learner, world, run)) return true;
  }
  return TryPair<Learner, DrawnRounds>(params, learner, world, run) ||
         TryPair<Learner, LoggedRounds>(params, learner, world, run) ||
         TryPair<Learner, LendingRounds>(params, learner, world, run);
}

template <class... Learners>
std::unique_ptr<UserRun> FindPair(const UserSimParams& params, UserLearner& learner, UserWorld& world) {
  std::unique_ptr<UserRun> run;
  (TryWorlds<Learners>(params, learner, world, run) || ...);
  return run;
}

}  // namespace

std::unique_ptr<UserRun> MakeUserRun(const UserSimParams& params, UserLearner& learner, UserWorld& world) {
  auto run = FindPair<LdpSgd, LdpOls, LdpUcb, LdpGloc, ThompsonSampling>(params, learner, world);
  if (run != nullptr) return run;
  return std::make_unique<UserSimulator<UserLearner, UserWorld>>(params, learner, world);
}

}  // namespace bandana::sim
