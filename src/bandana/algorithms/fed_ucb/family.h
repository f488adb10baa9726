#pragma once

#include "bandana/federation/family.h"

namespace bandana {

/// Registers fed-ucb, fed-ucb-p2p and private-lin-ucb.
void AddFedUcbFamilies(Registry& registry);

/// Registers the world for agents that play round by round: contextual-linear.
void AddRoundWorlds(Registry& registry);

}  // namespace bandana
