#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "bandana/federation/family.h"

namespace bandana {

/// Returns the registry of all algorithms and worlds that programs and specs can name. Those that ship are in
/// it; a program may add its own before it reads a spec.
Registry& Families();

/// Assembles an algorithm by its name and the time model of the world whose facts these are: two algorithms
/// may share a name. `values` sets its options; the others have their defaults.
absl::StatusOr<Federation> Create(const std::string& name, TimeModel time, const Values& values,
                                  const Privacy& privacy, const Facts& facts);

/// Makes a world by the name of its kind and the time model of those who play in it.
absl::StatusOr<std::unique_ptr<World>> MakeWorld(const std::string& kind, TimeModel time,
                                                 const Values& values, const WorldDraw& draw);

}  // namespace bandana
