#pragma once

#include "bandana/federation/family.h"

namespace bandana {

/// Adds cdp-mab, ddp-mab, hdp-mab, single-mab, ucb1 and successive-elimination.
void AddArmFamilies(Registry& registry);

/// Adds the world "mab" for ticks.
void AddArmWorlds(Registry& registry);

}  // namespace bandana
