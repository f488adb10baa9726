#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "bandana/algorithms/elimination/phased_elimination.h"
#include "bandana/federation/federation.h"
#include "bandana/privacy/privacy_options.h"

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
/// (PhaseRegression). Averages are clipped to public intervals, not to B = 1. A phase that the horizon cuts
/// short asks no client. With `report = estimate` a client sends its own estimate of theta (EstimateReport);
/// Section VIII expects a marginal gain from that.
namespace bandana {

enum class ClientSchedule {
  kGrowing,  ///< ceil(2^(alpha l)) clients in phase l
  kFixed,    ///< a fixed number of clients per phase: the paper's DPE-FixedU
};

struct DpDpeParams {
  ClientSchedule clients = ClientSchedule::kGrowing;
  /// Clients per phase of the fixed schedule. Empty: EqualCommunicationClients of the growing one.
  std::optional<Count> fixed_clients = {};
  /// The growing schedule asks at least so many clients. Empty: DefaultMinClients.
  std::optional<Count> min_clients = {};
  double alpha = 0.8;               ///< how fast the number of clients grows
  std::optional<double> beta = {};  ///< level of one confidence bound; empty: 1/(k T)
  ClientReport report = ClientReport::kAverages;
  Width width = Width::kExact;
  bool warm_start = false;    ///< whether the search for a design starts from the previous design
  double over_selection = 0;  ///< how many more clients a phase asks than it needs, as a share
};

absl::StatusOr<Federation> CreateDpDpe(const DpDpeParams& params, const Privacy& privacy, const Facts& facts);

/// Returns the rules of DP-DPE. Checks only the parameters that are DP-DPE's own; EliminationPolicy checks
/// the others.
absl::StatusOr<EliminationRules> DpDpeRules(const DpDpeParams& params, const EliminationWorld& world,
                                            const ActionMatrix& actions);

/// Returns 2^l, the number of rounds that phase l aims at. From l = 62 on, beyond any horizon, it stays 2^62.
double DoublingRounds(Epoch phase);

/// Returns 20 clients for each one that may work with the adversary, if a shuffler adds up their noise; 1
/// otherwise. With n clients of whom c work with the adversary, the noise is sqrt(n/(n - c)) times that of a
/// trusted server: 1.41 times with n = 2 and c = 1, but at most 1.03 times with n >= 20 c.
Count DefaultMinClients(const Privacy& privacy);

/// Returns |U_l|, the number of clients in phase l. The fixed schedule must have its number.
Count DpDpeClients(const DpDpeParams& params, Epoch phase);

/// Returns beta if it is given, else min(1/2, 1/(k T)), where k is the number of actions and T the horizon.
double LevelOf(const std::optional<double>& beta, const ActionMatrix& actions, Count horizon);

/// Returns sigma_n of Theorem 5.2, the part of the paper's width that pays for the privacy noise.
double DpDpePrivacyTerm(const PhaseFacts& facts);

}  // namespace bandana
