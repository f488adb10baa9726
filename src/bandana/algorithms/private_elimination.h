#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "bandana/algorithms/phased_elimination.h"

/// Batched elimination for private stochastic linear bandits.
/// O. Hanna, A. Girgis, C. Fragouli, S. Diggavi, "Differentially Private Stochastic Linear Bandits: (Almost)
/// for Free", IEEE JSAIT 2024. Its four algorithms are one, under four privatizers: Algorithm 1 central,
/// 2 local, 3 shuffled Laplace noise with actions that the shuffler deals out, 4 a shuffle sum an action.
///
///   paper             here
///   A, A_i, K, d      actions, EliminationPolicy::active, their number and dimension
///   q, q^i            BatchGrowth, EliminationRules::rounds
///   i = 1 .. log T-1  Batches
///   C_i, pi_i         Design; without a core set UniformDesign
///   n_ia, n_i         Plan::pulls, PhaseRecord::rounds
///   r^_ia / n_ia      Released<Mean>
///   gamma_i           EliminationRules::paper_width
///
/// Departures, all in docs/papers/p2.md: noise is for the rewards' range and not for their bound;
/// `width = exact` is Chernoff's bound for each pair of actions.
namespace bandana {

struct PrivateEliminationParams {
  Count horizon = 0;           ///< T, at least 8
  std::optional<double> beta;  ///< level of one confidence bound; 1/(K T) if not given
  Width width = Width::kExact;
  bool core_set = true;  ///< otherwise a batch plays every action that is left equally often
  Count population = 0;
  ClipRule clip;
};

absl::StatusOr<EliminationRules> PrivateEliminationRules(const PrivateEliminationParams& params,
                                                         const ActionMatrix& actions);

/// q = (2 T)^(1 / ln T).
double BatchGrowth(Count horizon);

/// floor(ln T) - 1.
Epoch Batches(Count horizon);

}  // namespace bandana
