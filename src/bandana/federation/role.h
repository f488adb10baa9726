#pragma once

#include "bandana/core/savable.h"
#include "bandana/federation/observations.h"

namespace bandana {

/// Anything that takes part in a federation.
class Role : public Savable {
 public:
  /// Adds what the role knows about the run. All of it must be released or public.
  virtual void Describe(Observations&) const {}
};

}  // namespace bandana
