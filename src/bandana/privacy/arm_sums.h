#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bandana/core/ids.h"
#include "bandana/privacy/released.h"

namespace bandana {

/// Sums of rewards, arm by arm, of one agent or of several, with noise: what federated agents with arms
/// exchange.
struct ArmSums {
  Count agents = 1;         ///< whose rewards these are
  Count pulls = 0;          ///< of each arm, over all of them
  std::vector<ArmId> arms;  ///< ascending
  std::vector<std::int64_t>
      units;               ///< the sums, in units of kArmSumsUnit: whole, so any order of adding is the same
  double noise_scale = 0;  ///< of each Laplace term, in units of reward; 0: none
  Count noise_terms = 0;   ///< in each sum
};

inline constexpr double kArmSumsUnit = 1.0 / (1 << 20);

using ReleasedArms = std::shared_ptr<const Released<ArmSums>>;

}  // namespace bandana
