#pragma once

/// Worlds: what clients, agents and users play in. Implement SlotWorld, RoundWorld or UserWorld for a world
/// of your own (examples/own_world.cc), or make one that ships by its parameters or by its name (MakeWorld in
/// algorithm.h).

#include "bandana/bandit/world.h"
#include "bandana/bandit/world_kind.h"
#include "bandana/bandit/worlds/arm_world.h"
#include "bandana/bandit/worlds/contextual.h"
#include "bandana/bandit/worlds/glm_users.h"
#include "bandana/bandit/worlds/linear.h"
#include "bandana/bandit/worlds/replay_users.h"
#include "bandana/bandit/worlds/round_contexts.h"
