#pragma once

#include <string>

namespace bandana {

/// (epsilon, delta)-differential privacy: for neighbouring inputs, the probability of any event changes by at
/// most a factor of e^epsilon, plus delta. The claim that uses it names the protected unit and the adversary.
struct DpGuarantee {
  double epsilon;
  double delta;

  bool operator==(const DpGuarantee&) const = default;
};

/// Returns "(1.047, 1e-05)", with at most four digits of epsilon and three of delta. Figures are rounded up,
/// so that what people read is never better than what is true.
std::string ToText(const DpGuarantee& guarantee);

/// Returns the number with at most so many digits, rounded up.
std::string RoundedUp(double value, int digits);

}  // namespace bandana
