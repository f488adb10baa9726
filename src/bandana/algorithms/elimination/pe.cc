#include "bandana/algorithms/elimination/pe.h"

#include <cmath>

#include "bandana/algorithms/elimination/dp_dpe.h"

namespace bandana {

absl::StatusOr<EliminationRules> PeRules(const PeParams& params, const EliminationWorld& world,
                                         const ActionMatrix& actions) {
  const double level = LevelOf(params.beta, actions, world.horizon);
  const double spread = std::hypot(world.clip.reward.proxy(), world.clip.client_sd);
  return EliminationRules{
      .horizon = world.horizon,
      .level = level,
      .rounds = DoublingRounds,
      .warm_start = params.warm_start,
      .width = params.width,
      .paper_width =
          [level, spread](const PhaseFacts& facts) {
            return (spread * std::sqrt(2 * facts.dimension / facts.target) + DpDpePrivacyTerm(facts)) *
                   std::sqrt(2 * std::log(1 / level));
          },
      .clip = world.clip,
      .population = world.population};
}

}  // namespace bandana
