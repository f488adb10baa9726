#pragma once

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "bandana/lab/judge/series.h"
#include "bandana/lab/judge/verdict.h"

/// Functions for claims that need code: `is = "code"` and `judge = NAME`. Every claim has `of`, a series.
namespace bandana::lab {

using CodeJudge = absl::StatusOr<Finding> (*)(const Case& of);

/// Returns the functions by name.
const std::map<std::string, CodeJudge>& CodeJudges();

/// "times-hide": `of` and `than` are times of an event in two neighbouring worlds, one per run. Holds if the
/// times show no epsilon above the claimed one, at 99 % confidence.
absl::StatusOr<Finding> TimesHide(const Case& of);

/// "links-by-laplacian", "links-by-walk": `of` is the number of links per communication round on a regular
/// graph. Holds if it is at most d M log M / (2 log(1 / lambda)), where lambda is the second largest
/// eigenvalue of the Laplacian, or the second largest modulus of an eigenvalue of A/d (A is the adjacency
/// matrix).
absl::StatusOr<Finding> LinksByLaplacian(const Case& of);
absl::StatusOr<Finding> LinksByWalk(const Case& of);

/// "default-is-best": `of` goes along an option, over all points of a search. Holds if the geometric mean of
/// median regrets is, at the option's default, at most `factor` times that at any other value. `for` gives
/// the default as `value`, and the claim cannot be judged if the option has another one.
absl::StatusOr<Finding> DefaultIsBest(const Case& of);

/// "number-is-best": the same for the number that `for` gives as `value`, whatever the option's default is.
absl::StatusOr<Finding> NumberIsBest(const Case& of);

}  // namespace bandana::lab
