#include "bandana/algorithms/registry.h"

#include <utility>

#include "bandana/algorithms/arms/family.h"
#include "bandana/algorithms/elimination/family.h"
#include "bandana/algorithms/fed_ucb/family.h"
#include "bandana/algorithms/lin_ucb/family.h"
#include "bandana/algorithms/users/family.h"
#include "bandana/core/status.h"

namespace bandana {
namespace {

// A linker drops what nobody names, so every family that ships is named here.
Registry MakeRegistry() {
  Registry registry;
  AddSlotWorlds(registry);
  AddRoundWorlds(registry);
  AddArmWorlds(registry);
  AddUserWorlds(registry);
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

absl::StatusOr<Federation> Create(const std::string& name, const Values& values, const Privacy& privacy,
                                  const Facts& facts) {
  BANDANA_ASSIGN_OR_RETURN(const Family* family, Families().FindFamily(name));
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
