#pragma once

#include <string>
#include <vector>

#include "bandana/lab/exhibits/points.h"

/// What the exhibits of P5 have in common: regret is heavy-tailed there, so that medians are compared.
namespace bandana::lab::p5 {

double MedianOf(Sample sample);

/// Holds if the median of a is below that of b, and a is below b in four of five replicates.
Finding MedianBelow(const NamedSample& a, const NamedSample& b);

/// The slope of ln(median regret) against ln(t) over the last factor of ten of the rounds.
absl::StatusOr<double> LastSlope(const Findings& findings, const Where& where);

/// Holds if that is at most `most`.
absl::StatusOr<Finding> LastSlopeAtMost(const Findings& findings, const std::string& name, const Where& where,
                                        double most);

}  // namespace bandana::lab::p5
