#pragma once

#include "bandana/federation/family.h"

namespace bandana {

/// Adds dp-dpe, pe and private-elimination.
void AddEliminationFamilies(Registry& registry);

}  // namespace bandana
