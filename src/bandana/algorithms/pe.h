#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "bandana/algorithms/phased_elimination.h"

/// PE: phased elimination with one new client a round, P1's baseline (Section VII-B) and, with a privatizer,
/// its private form: phases of 2^l rounds, in each of which another client pulls one action once.
/// T. Lattimore, C. Szepesvari, "Bandit Algorithms", 2020, Algorithm 12.
///
/// What a client differs from theta by is noise like any other here, so that rewards spread by
/// sqrt(proxy^2 + client_sd^2); it takes as many clients as rounds.
namespace bandana {

struct PeParams {
  Count horizon = 0;           ///< T
  std::optional<double> beta;  ///< level of one confidence bound; 1/(k T) if not given
  Width width = Width::kExact;
  Count population = 0;
  ClipRule clip;
};

absl::StatusOr<EliminationRules> PeRules(const PeParams& params, const ActionMatrix& actions);

}  // namespace bandana
