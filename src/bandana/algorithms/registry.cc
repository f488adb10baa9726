#include "bandana/algorithms/registry.h"

#include <utility>

#include "bandana/algorithms/arms/family.h"
#include "bandana/algorithms/elimination/family.h"
#include "bandana/algorithms/fed_ucb/family.h"
#include "bandana/algorithms/lin_ucb/family.h"
#include "bandana/algorithms/users/family.h"
#include "bandana/bandit/worlds/arm_world.h"
#include "bandana/bandit/worlds/contextual.h"
#include "bandana/bandit/worlds/glm_users.h"
#include "bandana/bandit/worlds/linear.h"
#include "bandana/bandit/worlds/live.h"
#include "bandana/bandit/worlds/replay_users.h"
#include "bandana/bandit/worlds/round_contexts.h"
#include "bandana/core/status.h"

namespace bandana {
namespace {

// A linker drops what nobody names, so every family and every world that ships is named here.
Registry MakeRegistry() {
  Registry registry;
  for (const auto& kind : {LinearWorldKind, GlmWorldKind, LiveWorldKind, ContextualWorldKind,
                           RoundContextsKind, MabKind, LinearUsersKind, GlmUsersKind, ReplayUsersKind}) {
    registry.MustAdd(kind());
  }
  AddEliminationFamilies(registry);
  AddLinUcbFamily(registry);
  AddFedUcbFamilies(registry);
  AddArmFamilies(registry);
  AddUserFamilies(registry);
  return registry;
}

}  // namespace

Registry& Families() {
  static Registry& registry = *new Registry(MakeRegistry());
  return registry;
}

absl::StatusOr<Federation> Create(const std::string& name, TimeModel time, const Values& values,
                                  const Privacy& privacy, const Facts& facts) {
  BANDANA_ASSIGN_OR_RETURN(const Family* family, Families().FindFamily(name, time));
  BANDANA_ASSIGN_OR_RETURN(const Resolved resolved, Resolve(family->options, family->defaults, values));
  return family->create(resolved.params, privacy, facts);
}

absl::StatusOr<std::unique_ptr<World>> MakeWorld(const std::string& kind, TimeModel time,
                                                 const Values& values, const WorldDraw& draw) {
  BANDANA_ASSIGN_OR_RETURN(const WorldKind* world, Families().FindWorld(kind, time));
  BANDANA_ASSIGN_OR_RETURN(const Resolved resolved, Resolve(world->options, world->defaults, values));
  return world->make(resolved.params, draw);
}

}  // namespace bandana
