#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "bandana/lab/exhibits/points.h"

/// P3's exhibits: which points are meant. Regret is per agent throughout.
namespace bandana::lab::p3 {

inline constexpr char kRegret[] = "regret_per_agent";

/// FedUCB as it is by default, as printed, and without privacy.
Where Ours();
Where AsPrinted();
Where NonPrivate();

/// A point's regret by replicate, with its name.
absl::StatusOr<NamedSample> NamedRegret(const Findings& findings, std::string name, const Where& where);

/// The log-log slope along a key. Holds if it is within `near` of `rate`.
Finding GrowsLike(const Named& line, double rate, double near);

}  // namespace bandana::lab::p3
