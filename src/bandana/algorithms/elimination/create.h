#pragma once

#include "absl/status/statusor.h"
#include "bandana/algorithms/elimination/phased_elimination.h"
#include "bandana/federation/federation.h"
#include "bandana/privacy/privacy_options.h"

namespace bandana {

/// Returns what the rules of an elimination need to know of the world. With the paper's calibration, averages
/// of normal rewards are clipped to [-1, 1]: P1 assumes |y| <= B, and its B is 1.
EliminationWorld EliminationWorldOf(const Privacy& privacy, const Facts& facts);

/// Assembles phased elimination by these rules, with the mechanism of the trust model and its claims. An
/// elimination of your own needs only rules (examples/own_algorithm.cc).
absl::StatusOr<Federation> CreateElimination(EliminationRules rules, const Privacy& privacy,
                                             const Facts& facts);

}  // namespace bandana
