#pragma once

#include <optional>

#include "bandana/algorithms/elimination/dp_dpe.h"
#include "bandana/algorithms/elimination/pe.h"
#include "bandana/algorithms/elimination/private_elimination.h"

/// Parameters and environment of an elimination in one flat struct, so that a test can change one number.
namespace bandana {

struct DpDpeCase {
  Count horizon = 0;
  double alpha = 0;
  std::optional<double> beta;
  ClientReport report = ClientReport::kAverages;
  Width width = Width::kExact;
  ClientSchedule schedule = ClientSchedule::kGrowing;
  std::optional<Count> fixed_clients;
  Count population = 0;
  ClipRule clip;

  DpDpeParams params() const { return {schedule, fixed_clients, {}, alpha, beta, report, width}; }
};

struct PeCase {
  Count horizon = 0;
  std::optional<double> beta;
  Width width = Width::kExact;
  Count population = 0;
  ClipRule clip;
};

struct PrivateEliminationCase {
  Count horizon = 0;
  std::optional<double> beta;
  Width width = Width::kExact;
  bool core_set = true;
  CoreSetSearch design = CoreSetSearch::kSmall;
  Count population = 0;
  ClipRule clip;
};

inline absl::StatusOr<EliminationRules> DpDpeRules(const DpDpeCase& of, const ActionMatrix& actions) {
  return DpDpeRules(of.params(), {of.horizon, of.population, of.clip}, actions);
}
inline Count DpDpeClients(const DpDpeCase& of, Epoch phase) { return DpDpeClients(of.params(), phase); }
inline absl::StatusOr<EliminationRules> PeRules(const PeCase& of, const ActionMatrix& actions) {
  return PeRules({of.beta, of.width}, {of.horizon, of.population, of.clip}, actions);
}
inline absl::StatusOr<EliminationRules> PrivateEliminationRules(const PrivateEliminationCase& of,
                                                                const ActionMatrix& actions) {
  return PrivateEliminationRules(
      {.beta = of.beta, .width = of.width, .core_set = of.core_set, .design = of.design},
      {of.horizon, of.population, of.clip}, actions);
}

}  // namespace bandana
