#include "bandana/algorithms/elimination/private_elimination.h"

#include <algorithm>
#include <cmath>

#include "bandana/algorithms/elimination/dp_dpe.h"

namespace bandana {
namespace {

// Returns gamma_i of the paper's algorithms, for the noise that was really added. The paper's b is the scale
// of that noise in a sum of one action's rewards (central) or in one reward (local, amplified), or the proxy
// of the noise in a sum.
double PaperWidth(const PhaseFacts& facts, Count horizon) {
  const double d = facts.dimension;
  const double t = static_cast<double>(horizon);
  const double log_term = std::log(4.0 * facts.actions * t * t);
  const double learning = std::sqrt(4 * d / facts.target * log_term);
  if (facts.privacy.empty()) return learning;
  // Noise in each reward shows in several Laplace terms. All actions are looked at, because an action that
  // was pulled once has one term in the local model too.
  const bool a_reward = std::any_of(facts.privacy.begin(), facts.privacy.end(),
                                    [](const NoiseLaw& law) { return law.laplace_terms > 1; });
  double of_sum = 0;
  double of_reward = 0;
  for (std::size_t i = 0; i < facts.privacy.size(); ++i) {
    const NoiseLaw& law = facts.privacy[i];
    const double count = static_cast<double>(facts.pulls[i].count);
    if (a_reward) {
      of_reward = std::max(of_reward, law.laplace_scale * count);
    } else {
      of_sum = std::max(of_sum, std::max(law.laplace_scale, law.proxy) * count);
    }
  }
  // The factor 2 d sqrt(n_i) is Algorithm 2's, not Lemma 5's.
  const double local = std::sqrt(log_term) * 2 * d * std::sqrt(static_cast<double>(facts.rounds)) * of_reward;
  const double core = static_cast<double>(facts.pulls.size());  // B d
  const double central = (2 * core * d + 2 * d * log_term) * of_sum;
  return learning + (local + central) / facts.target;
}

}  // namespace

double BatchGrowth(Count horizon) {
  const double t = static_cast<double>(horizon);
  return std::pow(2 * t, 1 / std::log(t));
}

Epoch Batches(Count horizon) {
  return static_cast<Epoch>(std::floor(std::log(static_cast<double>(horizon)))) - 1;
}

absl::StatusOr<EliminationRules> PrivateEliminationRules(const PrivateEliminationParams& params,
                                                         const EliminationWorld& world,
                                                         const ActionMatrix& actions) {
  constexpr Count kLeast = 8;  // one batch
  if (!(world.horizon >= kLeast)) {
    return InvalidField(Part::kFacts, "horizon", static_cast<double>(world.horizon),
                        "a whole number >= 8: the number of batches is floor(ln T) - 1");
  }
  const double growth = BatchGrowth(world.horizon);
  return EliminationRules{.horizon = world.horizon,
                          .level = LevelOf(params.beta, actions, world.horizon),
                          .rounds = [growth](Epoch batch) { return std::pow(growth, batch); },
                          .phases = Batches(world.horizon),
                          .warm_start = params.warm_start,
                          .core_set = params.core_set,
                          .design = params.design,
                          .width = params.width,
                          .paper_width = [horizon = world.horizon](
                                             const PhaseFacts& facts) { return PaperWidth(facts, horizon); },
                          .clip = world.clip,
                          .population = world.population};
}

}  // namespace bandana
