#pragma once

#include <string>

#include "absl/status/status.h"
#include "bandana/core/archive.h"

namespace bandana::service {

/// Saves or restores a part of an object that has Save and Restore of its own: a role or a world.
template <class Archive, class Part>
void VisitPart(Archive& a, Part& part) {
  std::string saved;
  if constexpr (!Archive::kReads) saved = part.Save();
  a(saved);
  if constexpr (Archive::kReads) {
    if (!a.ok()) return;
    const absl::Status status = part.Restore(saved);
    a.Check(status.ok(), std::string(status.message()));
  }
}

}  // namespace bandana::service
