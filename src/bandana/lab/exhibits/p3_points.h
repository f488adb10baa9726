#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "bandana/lab/exhibits/points.h"

/// Helpers for the exhibits of P3: they choose points. Regret is per agent in all of them.
namespace bandana::lab::p3 {

inline constexpr char kRegret[] = "regret_per_agent";

/// Choose FedUCB with our defaults, as printed in the paper, and without privacy.
Where Ours();
Where AsPrinted();
Where NonPrivate();

/// Returns the regret of a point, one value per replicate, with a name.
absl::StatusOr<NamedSample> NamedRegret(const Findings& findings, std::string name, const Where& where);

/// Holds if the log-log slope of the line is within `near` of `rate`.
Finding GrowsLike(const Named& line, double rate, double near);

}  // namespace bandana::lab::p3
