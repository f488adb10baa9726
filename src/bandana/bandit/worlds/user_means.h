#pragma once

#include <cmath>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/bandit/glm_problem.h"
#include "bandana/bandit/mean_function.h"
#include "bandana/core/options.h"

/// The parts that the options of all worlds with users share.
namespace bandana {

/// The ways in which a mean reward follows from <theta, x>, as users of the library write them.
std::vector<Spelling<Link>> LinkSpellings();

/// One theta for all arms, or one for each arm, as users of the library write it.
std::vector<Spelling<ParameterKind>> ParameterSpellings();

/// Returns whether a reward_bound is accepted.
inline bool AtLeastOne(double value) { return value >= 1 && std::isfinite(value); }

/// Makes the mean function of a link. For poisson, rewards are cut at `reward_bound`, a whole number, or at 5
/// if it is empty.
absl::StatusOr<MeanFunction> MeanFunctionOf(Link link, std::optional<double> reward_bound);

}  // namespace bandana
