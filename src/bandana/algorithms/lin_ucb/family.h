#pragma once

#include "bandana/federation/family.h"

namespace bandana {

/// Adds lin-ucb for slots.
void AddLinUcbFamily(Registry& registry);

}  // namespace bandana
