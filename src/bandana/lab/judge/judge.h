#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/lab/judge/claim.h"
#include "bandana/lab/judge/findings.h"
#include "bandana/lab/judge/verdict.h"

namespace bandana::lab {

/// Compares a claim with a run. docs/exhibits.md says when a claim of each kind holds. "Clearly" means by at
/// least kClear standard errors of the paired difference.
Verdict Judge(const PaperClaim& claim, const Findings& findings);

/// A bound and what was measured, at the places of the measured series.
struct BoundLine {
  std::string of;     ///< the name of the measured series
  std::string along;  ///< the key or formula of the places, or "t"
  std::vector<double> x = {};
  std::vector<Estimate> measured = {};
  std::vector<double> bound = {};  ///< for a rate, scaled so that it meets the last measured mean
};

/// Computes a bound at the points of a run. Fails if the run lacks them.
absl::StatusOr<BoundLine> Draw(const Bound& bound, const Findings& findings);

/// Returns the verdict on a claim that scale quick leaves to the paper's scale.
Verdict LeftToPaperScale(const PaperClaim& claim);

}  // namespace bandana::lab
