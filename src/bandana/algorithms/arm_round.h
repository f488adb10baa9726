#pragma once

#include <vector>

#include "bandana/core/ids.h"

namespace bandana {

/// What a peer or a server made of a round of P4's algorithms: public.
struct ArmRound {
  Epoch epoch = 0;
  Count clock = 0;          ///< when it was decided
  Count agents = 0;         ///< whose sums it had
  std::vector<ArmId> arms;  ///< that are left
  ArmId best = 0;
  double half_width = 0;

  template <class Archive>
  void State(Archive& a) {
    a(epoch, clock, agents, arms, best, half_width);
  }
};

}  // namespace bandana
