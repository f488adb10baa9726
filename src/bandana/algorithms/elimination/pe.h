#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "bandana/algorithms/elimination/phased_elimination.h"
#include "bandana/federation/federation.h"
#include "bandana/privacy/privacy_options.h"

/// PE: phased elimination with one new client per round, P1's baseline (Section VII-B). With a privatizer it
/// is private. Phase l has 2^l rounds; in each round another client pulls one action once.
/// T. Lattimore, C. Szepesvari, "Bandit Algorithms", 2020, Algorithm 12.
///
/// The difference between a client's own parameter and theta counts as reward noise here, so rewards have the
/// spread sqrt(proxy^2 + client_sd^2). A run needs as many clients as rounds.
namespace bandana {

struct PeParams {
  std::optional<double> beta = {};  ///< level of one confidence bound; empty: 1/(k T)
  Width width = Width::kExact;
  bool warm_start = false;  ///< whether the search for a design starts from the previous design
};

absl::StatusOr<Federation> CreatePe(const PeParams& params, const Privacy& privacy, const Facts& facts);

absl::StatusOr<EliminationRules> PeRules(const PeParams& params, const EliminationWorld& world,
                                         const ActionMatrix& actions);

}  // namespace bandana
