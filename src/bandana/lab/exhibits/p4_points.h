#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "bandana/lab/exhibits/points.h"

/// Helpers for the exhibits of P4: they choose points and compare metrics. Regret is summed over all agents,
/// unless a metric says otherwise.
namespace bandana::lab::p4 {

inline constexpr char kCost[] = "communication_cost";       // from the links that were counted
inline constexpr char kPaperCost[] = "paper_cost";          // from the paper's formulas
inline constexpr char kWaitingRegret[] = "waiting_regret";  // the regret of waiting pulls
inline constexpr char kPerAgent[] = "regret_per_agent";

/// Choose the algorithm as printed (noise of scale 1/(M epsilon) and the paper's widths), and with our
/// defaults.
Where Printed();
Where Ours();

/// Returns a metric of one point divided by its number of communication rounds, replicate by replicate.
absl::StatusOr<Sample> PerRound(const Findings& findings, const Where& where, const std::string& metric);

/// Holds if the mean of a is at least `factor` times that of b.
Finding AtLeastTimes(const NamedSample& a, const NamedSample& b, double factor);

/// Holds if all replicates have this value, up to rounding.
Finding IsExactly(const NamedSample& a, double value);

/// Returns the regret of the second half of a run divided by that of the first half; 1 means linear growth.
absl::StatusOr<double> GrowthAtEnd(const Findings& findings, const Where& where);

}  // namespace bandana::lab::p4
