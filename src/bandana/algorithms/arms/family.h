#pragma once

#include "bandana/federation/family.h"

namespace bandana {

/// Adds cdp-mab, ddp-mab, hdp-mab, single-mab, ucb1 and successive-elimination.
void AddArmFamilies(Registry& registry);

}  // namespace bandana
