#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "bandana/algorithms/elimination/phased_elimination.h"
#include "bandana/federation/federation.h"
#include "bandana/privacy/privacy_options.h"

/// Batched elimination for private stochastic linear bandits.
/// O. Hanna, A. Girgis, C. Fragouli, S. Diggavi, "Differentially Private Stochastic Linear Bandits: (Almost)
/// for Free", IEEE JSAIT 2024. The paper's four algorithms are one algorithm with four privatizers: Algorithm
/// 1 is central, 2 is local, 3 shuffles reports with Laplace noise and the shuffler deals out the actions,
/// 4 has one shuffle sum per action.
///
///   paper             here
///   A, A_i, K, d      actions, EliminationPolicy::active, their number and dimension
///   q, q^i            BatchGrowth, EliminationRules::rounds
///   i = 1 .. log T-1  Batches
///   C_i, pi_i         Design; Appendix A: FrankWolfeDesign; without a core set UniformDesign
///   n_ia, n_i         Plan::pulls, PhaseRecord::rounds
///   r^_ia / n_ia      Released<Mean>
///   gamma_i           EliminationRules::paper_width
///
/// Departures, all in docs/papers/p2.md: noise is calibrated for the range of the rewards, not for their
/// bound. `width = exact` is Chernoff's bound for each pair of actions.
namespace bandana {

struct PrivateEliminationParams {
  std::optional<double> beta = {};  ///< level of one confidence bound; empty: 1/(K T)
  Width width = Width::kExact;
  bool warm_start = false;  ///< whether the search for a design starts from the previous design
  bool core_set = true;     ///< false: a batch plays every active action equally often
  CoreSetSearch design = CoreSetSearch::kSmall;
};

absl::StatusOr<Federation> CreatePrivateElimination(const PrivateEliminationParams& params,
                                                    const Privacy& privacy, const Facts& facts);

/// Returns the rules of private elimination. Fails if the horizon is less than 8.
absl::StatusOr<EliminationRules> PrivateEliminationRules(const PrivateEliminationParams& params,
                                                         const EliminationWorld& world,
                                                         const ActionMatrix& actions);

/// Returns q = (2 T)^(1 / ln T): batch i aims at q^i rounds.
double BatchGrowth(Count horizon);

/// Returns the number of batches, floor(ln T) - 1.
Epoch Batches(Count horizon);

}  // namespace bandana
