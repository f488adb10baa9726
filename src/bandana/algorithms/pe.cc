#include "bandana/algorithms/pe.h"

#include <cmath>

#include "bandana/algorithms/dp_dpe.h"

namespace bandana {

absl::StatusOr<EliminationRules> PeRules(const PeParams& params, const ActionMatrix& actions) {
  const double level = LevelOf(params.beta, actions, params.horizon);
  const double spread = std::hypot(params.clip.reward.proxy(), params.clip.client_sd);
  return EliminationRules{
      .horizon = params.horizon,
      .level = level,
      .rounds = DoublingRounds,
      .width = params.width,
      .paper_width =
          [level, spread](const PhaseFacts& facts) {
            return (spread * std::sqrt(2 * facts.dimension / facts.target) + DpDpePrivacyTerm(facts)) *
                   std::sqrt(2 * std::log(1 / level));
          },
      .clip = params.clip,
      .population = params.population};
}

}  // namespace bandana
