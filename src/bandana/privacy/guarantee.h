#pragma once

namespace bandana {

/// (epsilon, delta)-differential privacy: for neighbouring inputs, the probability of any event changes by at
/// most a factor of e^epsilon, plus delta. The claim that uses it names the protected unit and the adversary.
struct DpGuarantee {
  double epsilon;
  double delta;

  bool operator==(const DpGuarantee&) const = default;
};

}  // namespace bandana
