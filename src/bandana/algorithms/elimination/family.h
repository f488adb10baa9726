#pragma once

#include "bandana/federation/family.h"

namespace bandana {

/// Adds dp-dpe, pe and private-elimination.
void AddEliminationFamilies(Registry& registry);

/// Adds the worlds for slots: linear, glm and contextual-linear.
void AddSlotWorlds(Registry& registry);

}  // namespace bandana
