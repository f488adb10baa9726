#pragma once

#include "absl/status/statusor.h"
#include "bandana/algorithms/elimination/phased_elimination.h"
#include "bandana/core/linear_algebra.h"

namespace bandana {

/// Returns the U of P1's DPE-FixedU, whose communication is that of DPE: ceil(sum |U_l| N_l / sum N_l) over
/// the phases l that the horizon does not cut short (P1, Section VI). |U_l| is the number of clients that
/// `growing` asks, and N_l is how many numbers each of them sends: one for each action that is played.
///
/// N_l depends on which actions are left, which nobody knows before the run. So the result is the median over
/// runs of `growing` without privacy that are simulated here, each with another theta from the unit sphere.
/// The result depends on public facts only, and is the same in every call with the same arguments.
absl::StatusOr<Count> EqualCommunicationClients(const EliminationRules& growing, const ActionMatrix& actions);

}  // namespace bandana
