#pragma once

#include <span>

#include "bandana/core/ids.h"

namespace bandana {

/// An instruction to play `arm` `count` times.
struct Pull {
  ArmId arm = 0;
  Count count = 0;
  auto operator<=>(const Pull&) const = default;
  template <class Archive>
  void State(Archive& a) {
    a(arm, count);
  }
};

/// The result of one Pull: the sum of its `count` rewards.
struct RewardSum {
  Count count = 0;
  double sum = 0;
};

using RewardSums = std::span<const RewardSum>;

/// The range of values that an average may take.
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
