#pragma once

#include <limits>
#include <string>

#include "bandana/lab/exhibits/claim.h"

/// The comparisons that claims are made of. Each returns its evidence too. "Clearly" means by at least kClear
/// standard errors of the paired difference. A place is a value on the x-axis that both lines have.
namespace bandana::lab {

/// A line with its name in the evidence.
struct Named {
  std::string name;
  Line line;
};

/// Returns the line of Findings::Along with a name.
absl::StatusOr<Named> NamedAlong(const Findings& findings, std::string name, const std::string& key,
                                 const Where& where, const std::string& metric = "regret");

/// Holds if the last mean is clearly below the first and no step goes clearly up.
Finding Falls(const Named& a);

/// Holds if a is clearly below b at every place of both.
Finding Below(const Named& a, const Named& b);

/// Holds if a is clearly above b at no place of both.
Finding NowhereAbove(const Named& a, const Named& b);

/// Holds if the ratio of the means is from 1/factor to factor at every place of both.
Finding WithinFactor(const Named& a, const Named& b, double factor);

/// Holds if mean(a) is at least `factor` times mean(b) at every place of both.
Finding AtLeastTimes(const Named& a, const Named& b, double factor);

/// Holds if, at the largest x of a, the ratio of mean(a) to mean(b) is from 1/factor to factor.
Finding ConvergesTo(const Named& a, const std::string& name, const Sample& b, double factor);

/// Holds if the log-log slope is at most `rate`, up to kClear standard errors and `tolerance` for logarithms
/// and lower orders.
Finding GrowsAtMostLike(const Named& a, double rate, double tolerance);

/// Compares the excess a - b at the last place with the excess at the first place times the growth that the
/// rate and the tolerance allow. Holds unless the first is clearly larger. Excesses may be negative or lost
/// in the noise.
Finding ExcessGrowsAtMostLike(const Named& a, const Named& b, double rate, double tolerance);

/// Returns the part of a line where lowest <= x <= highest.
Named Part(const Named& a, double lowest, double highest);

/// Holds if both hold; it has the evidence of both.
Finding Both(const Finding& a, const Finding& b);

}  // namespace bandana::lab
