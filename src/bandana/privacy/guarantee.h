#pragma once

namespace bandana {

/// (epsilon, delta)-differential privacy. What is protected, and against whom, is said where it is claimed.
struct DpGuarantee {
  double epsilon;
  double delta;

  bool operator==(const DpGuarantee&) const = default;
};

}  // namespace bandana
