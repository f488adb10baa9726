#pragma once

#include "bandana/federation/family.h"

namespace bandana {

/// Registers fed-ucb, fed-ucb-p2p and private-lin-ucb.
void AddFedUcbFamilies(Registry& registry);

}  // namespace bandana
