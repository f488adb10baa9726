#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "bandana/algorithms/phased_elimination.h"

/// DP-DPE: differentially private distributed phased elimination.
/// F. Li, X. Zhou, B. Ji, "Distributed Linear Bandits With Differential Privacy", IEEE TNSE 11(3), 2024,
/// Algorithm 1.
///
///   paper             here
///   D, k, d           actions, their number and dimension
///   D_l               EliminationPolicy::active
///   pi_l, V(pi)       Design
///   h_l               EliminationRules::rounds: 2^l
///   T_l(x), T_l       Plan::pulls, PhaseRecord::rounds
///   U_l               DpDpeClients: ceil(2^(alpha l)), each client of the population at most once
///   y~_l              Released<Mean>
///   theta~_l          PhaseRecord::estimate
///   W_l, sigma_n      EliminationRules::paper_width
///   sigma, B          ClipRule::client_sd, ClipRule::BoundsFor
///
/// Departures, all in docs/papers/p1.md: `width = exact` bounds each pair of actions by itself
/// (PhaseRegression); averages are clipped to a public schedule, not to B = 1; a phase that the horizon cuts
/// short asks no client. `report = estimate` is what Section VIII expects a marginal gain from: a client
/// sends its own estimate (EstimateReport).
namespace bandana {

enum class ClientSchedule {
  kGrowing,  ///< ceil(2^(alpha l))
  kFixed,    ///< the paper's DPE-FixedU
};

struct DpDpeParams {
  Count horizon = 0;           ///< T
  double alpha = 0;            ///< of the growing schedule, and of the one that an equal number is for
  std::optional<double> beta;  ///< level of one confidence bound; 1/(k T) if not given
  ClientReport report = ClientReport::kAverages;
  Width width = Width::kExact;
  ClientSchedule schedule = ClientSchedule::kGrowing;
  std::optional<Count> fixed_clients;  ///< a phase, of the fixed schedule; EqualClients if not given
  Count population = 0;                ///< clients 1 .. population
  ClipRule clip;
};

/// Checks what is DP-DPE's own among the parameters.
absl::StatusOr<EliminationRules> DpDpeRules(const DpDpeParams& params, const ActionMatrix& actions);

/// 2^l, saturated long after any horizon.
double DoublingRounds(Epoch phase);

/// |U_l|.
Count DpDpeClients(const DpDpeParams& params, Epoch phase);

/// The U for which DPE-FixedU has as many reports as the growing schedule of that alpha: the mean of |U_l|
/// over the phases that the horizon holds.
Count EqualClients(double alpha, Count horizon);

/// 1/(k T), or 1/2 if that is less, unless beta is given.
double LevelOf(const std::optional<double>& beta, const ActionMatrix& actions, Count horizon);

/// Theorem 5.2's sigma_n.
double DpDpePrivacyTerm(const PhaseFacts& facts);

}  // namespace bandana
