#pragma once

#include <span>

#include "bandana/core/ids.h"

namespace bandana {

/// An instruction: play this arm so many times.
struct Pull {
  ArmId arm = 0;
  Count count = 0;
  auto operator<=>(const Pull&) const = default;
  template <class Archive>
  void State(Archive& a) {
    a(arm, count);
  }
};

/// What came of one Pull: the rewards' sum.
struct RewardSum {
  Count count = 0;
  double sum = 0;
};

using RewardSums = std::span<const RewardSum>;

/// Values that an average may take.
struct Interval {
  double low = 0;
  double high = 0;
  auto operator<=>(const Interval&) const = default;
  template <class Archive>
  void State(Archive& a) {
    a(low, high);
  }
};

}  // namespace bandana
