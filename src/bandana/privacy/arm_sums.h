#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bandana/core/ids.h"
#include "bandana/privacy/released.h"

namespace bandana {

inline constexpr double kArmSumsUnit = 1.0 / (1 << 20);

/// What some agents have released of the rewards of some arms, each pulled as often as the others.
struct ArmSums {
  Count agents = 1;                 ///< whose rewards these are
  Count pulls = 0;                  ///< of each arm, over all of them
  std::vector<ArmId> arms;          ///< ascending
  std::vector<std::int64_t> units;  ///< sums of rewards in kArmSumsUnit, with noise: in whatever order they
                                    ///< are added, the bits are the same
  double noise_scale = 0;           ///< of each Laplace term, in reward units; 0: none
  Count noise_terms = 0;            ///< in each sum

  bool operator==(const ArmSums&) const = default;
  template <class Archive>
  void State(Archive& a) {
    a(agents, pulls, arms, units, noise_scale, noise_terms);
    a.Check(units.size() == arms.size(), "sums of other arms than there are");
  }
};

/// The noise in each of the sums, in reward units: one law for all of them.
inline std::vector<NoiseLaw> NoiseOf(const ArmSums& sums) {
  return {{.laplace_scale = sums.noise_scale, .laplace_terms = sums.noise_terms}};
}

/// The average reward of the i-th arm, noise and all.
inline double MeanOf(const ArmSums& sums, std::size_t i) {
  return static_cast<double>(sums.units[i]) * kArmSumsUnit / static_cast<double>(sums.pulls);
}

/// Sums are sent to many and never changed.
using ReleasedArms = std::shared_ptr<const Released<ArmSums>>;

}  // namespace bandana
