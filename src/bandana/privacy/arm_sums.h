#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bandana/core/ids.h"
#include "bandana/privacy/released.h"

namespace bandana {

inline constexpr double kArmSumsUnit = 1.0 / (1 << 20);

/// The released sums of the rewards of some arms, over one or more agents. All these arms were pulled equally
/// often.
struct ArmSums {
  Count agents = 1;                 ///< the number of agents whose rewards are in the sums
  Count pulls = 0;                  ///< pulls of each arm, over all these agents
  std::vector<ArmId> arms;          ///< in ascending order
  std::vector<std::int64_t> units;  ///< sums of rewards with noise, in multiples of kArmSumsUnit; integers,
                                    ///< so that the order of addition does not change the bits
  double noise_scale = 0;           ///< the scale of each Laplace term, in reward units; 0: no noise
  Count noise_terms = 0;            ///< the number of Laplace terms in each sum

  bool operator==(const ArmSums&) const = default;
  template <class Archive>
  void State(Archive& a) {
    a(agents, pulls, arms, units, noise_scale, noise_terms);
    a.Check(units.size() == arms.size(), "it does not have one sum per arm");
  }
};

/// Returns the law of the noise in each sum, in reward units. All sums have the same law.
inline std::vector<NoiseLaw> NoiseOf(const ArmSums& sums) {
  return {{.laplace_scale = sums.noise_scale, .laplace_terms = sums.noise_terms}};
}

/// Returns the average reward of the i-th arm, including the noise.
inline double MeanOf(const ArmSums& sums, std::size_t i) {
  return static_cast<double>(sums.units[i]) * kArmSumsUnit / static_cast<double>(sums.pulls);
}

/// Shared, because the sums are sent to many agents and never changed.
using ReleasedArms = std::shared_ptr<const Released<ArmSums>>;

}  // namespace bandana
