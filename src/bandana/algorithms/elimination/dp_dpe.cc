#include "bandana/algorithms/elimination/dp_dpe.h"

#include <algorithm>
#include <cmath>

#include "bandana/algorithms/elimination/equal_communication.h"
#include "bandana/core/check.h"

namespace bandana {
namespace {

Count GrowingClients(double alpha, Epoch phase) {
  constexpr double kMost = 0x1p62;
  return static_cast<Count>(std::min(kMost, CeilCount(std::exp2(alpha * phase))));
}

// W_l, Eq. (3).
double PaperWidth(const PhaseFacts& facts, double client_sd, double level) {
  const double clients = static_cast<double>(facts.clients);
  return (std::sqrt(2 * facts.dimension / (clients * facts.target)) + client_sd / std::sqrt(clients) +
          DpDpePrivacyTerm(facts)) *
         std::sqrt(2 * std::log(1 / level));
}

}  // namespace

double DoublingRounds(Epoch phase) { return std::ldexp(1.0, std::min(phase, 62)); }

double LevelOf(const std::optional<double>& beta, const ActionMatrix& actions, Count horizon) {
  const double k = static_cast<double>(actions.rows());
  return beta.value_or(std::min(0.5, 1 / (k * static_cast<double>(horizon))));
}

Count DefaultMinClients(const Privacy& privacy) {
  const bool adds_noise_up =
      privacy.model == TrustModel::kShuffle && privacy.calibration == Calibration::kTight;
  return adds_noise_up ? std::max<Count>(1, 20 * privacy.colluding) : 1;
}

Count DpDpeClients(const DpDpeParams& params, Epoch phase) {
  if (params.clients == ClientSchedule::kGrowing) {
    return std::max(params.min_clients.value_or(1), GrowingClients(params.alpha, phase));
  }
  BANDANA_CHECK(params.fixed_clients.has_value());
  return *params.fixed_clients;
}

double DpDpePrivacyTerm(const PhaseFacts& facts) {
  const double d = facts.dimension;
  const double support = 4 * d * std::max(0.0, std::log(std::log(d))) + 16;  // S
  return 2 * facts.privacy_stddev * std::sqrt(support * d);
}

absl::StatusOr<EliminationRules> DpDpeRules(const DpDpeParams& params, const EliminationWorld& world,
                                            const ActionMatrix& actions) {
  const bool needs_alpha = params.clients == ClientSchedule::kGrowing || !params.fixed_clients.has_value();
  if (needs_alpha && !(params.alpha > 0 && std::isfinite(params.alpha))) {
    return InvalidField(Part::kParams, "alpha", params.alpha, "a finite number > 0");
  }
  if (params.fixed_clients.has_value() && !(*params.fixed_clients >= 1)) {
    return InvalidField(Part::kParams, "fixed_clients", static_cast<double>(*params.fixed_clients),
                        "a whole number >= 1");
  }
  if (params.min_clients.has_value() && !(*params.min_clients >= 1)) {
    return InvalidField(Part::kParams, "min_clients", static_cast<double>(*params.min_clients),
                        "a whole number >= 1");
  }
  const double level = LevelOf(params.beta, actions, world.horizon);
  EliminationRules rules{.horizon = world.horizon,
                         .level = level,
                         .rounds = DoublingRounds,
                         .clients = [params](Epoch phase) { return DpDpeClients(params, phase); },
                         .over_selection = params.over_selection,
                         .warm_start = params.warm_start,
                         .report = params.report,
                         .width = params.width,
                         .paper_width = [level, sd = world.clip.client_sd](
                                            const PhaseFacts& facts) { return PaperWidth(facts, sd, level); },
                         .clip = world.clip,
                         .population = world.population};
  if (params.clients == ClientSchedule::kFixed && !params.fixed_clients.has_value()) {
    rules.clients = [alpha = params.alpha](Epoch phase) { return GrowingClients(alpha, phase); };
    BANDANA_ASSIGN_OR_RETURN(const Count equal, EqualCommunicationClients(rules, actions));
    rules.clients = [equal](Epoch) { return equal; };
  }
  return rules;
}

}  // namespace bandana
