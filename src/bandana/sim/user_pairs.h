#pragma once

#include <memory>

#include "bandana/bandit/world.h"
#include "bandana/federation/user_learner.h"
#include "bandana/sim/user_simulator.h"

namespace bandana::sim {

/// Makes the run of a learner in a world. Learners and worlds that ship have runs of their own, compiled for
/// the pair, which are several percent faster. All others, for example those of a program outside of this
/// tree, run through the abstract classes. Nobody can tell the difference by the results.
std::unique_ptr<UserRun> MakeUserRun(const UserSimParams& params, UserLearner& learner, UserWorld& world);

}  // namespace bandana::sim
