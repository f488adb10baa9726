#pragma once

#include "bandana/federation/family.h"

namespace bandana {

/// Adds the algorithms for a new user in every round: ldp-sgd, ldp-ols, ldp-ucb, ldp-gloc, thompson-sampling,
/// and lin-ucb for worlds with contexts.
void AddUserFamilies(Registry& registry);

}  // namespace bandana
