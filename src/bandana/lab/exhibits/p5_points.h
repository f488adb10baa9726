#pragma once

#include <string>
#include <vector>

#include "bandana/lab/exhibits/points.h"

/// Helpers for the exhibits of P5. Regret is heavy-tailed there, so they compare medians.
namespace bandana::lab::p5 {

double MedianOf(Sample sample);

/// Holds if the median of a is below that of b, and a is below b in four of five replicates.
Finding MedianBelow(const NamedSample& a, const NamedSample& b);

/// Returns the slope of ln(median regret) against ln(t) over the last factor of ten of the rounds.
absl::StatusOr<double> LastSlope(const Findings& findings, const Where& where);

/// Holds if LastSlope is at most `most`.
absl::StatusOr<Finding> LastSlopeAtMost(const Findings& findings, const std::string& name, const Where& where,
                                        double most);

}  // namespace bandana::lab::p5
