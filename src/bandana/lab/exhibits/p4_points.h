#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "bandana/lab/exhibits/points.h"

/// P4's exhibits: which points are meant, and what is compared. Regret is of all agents, unless it says
/// otherwise.
namespace bandana::lab::p4 {

inline constexpr char kCost[] = "communication_cost";       // counted
inline constexpr char kPaperCost[] = "paper_cost";          // by the paper's formulas
inline constexpr char kWaitingRegret[] = "waiting_regret";  // of pulls while messages are on their way
inline constexpr char kPerAgent[] = "regret_per_agent";

/// As printed: noise of 1/(M epsilon), the paper's widths; and as it is by default.
Where Printed();
Where Ours();

/// a/b of metrics of one point, replicate by replicate: links a round.
absl::StatusOr<Sample> PerRound(const Findings& findings, const Where& where, const std::string& metric);

/// Holds if the mean of a is at least `factor` times that of b.
Finding AtLeastTimes(const NamedSample& a, const NamedSample& b, double factor);

/// Holds if all replicates are this, up to rounding.
Finding IsExactly(const NamedSample& a, double value);

/// By how much regret grows in the second half of a run, as a share of what it was after the first; 1:
/// linear.
absl::StatusOr<double> GrowthAtEnd(const Findings& findings, const Where& where);

}  // namespace bandana::lab::p4
