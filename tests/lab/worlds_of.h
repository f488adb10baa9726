#pragma once

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "bandana/bandit/worlds/contextual.h"
#include "bandana/bandit/worlds/contextual_population.h"
#include "bandana/bandit/worlds/linear.h"
#include "bandana/bandit/worlds/linear_population.h"
#include "bandana/core/status.h"
#include "bandana/lab/experiment.h"

/// The worlds behind settings, for tests that look inside.
namespace bandana::lab {

/// Returns the linear problem that a replicate of a slot world plays.
inline absl::StatusOr<std::shared_ptr<const LinearProblem>> MakeProblem(const Settings& settings,
                                                                        std::uint32_t replicate) {
  BANDANA_ASSIGN_OR_RETURN(const Instance instance, MakeInstance(settings, replicate));
  if (const auto* linear = dynamic_cast<const LinearPopulation*>(instance.world.get())) {
    return std::make_shared<const LinearProblem>(linear->problem());
  }
  const auto& contextual = dynamic_cast<const ContextualPopulation&>(*instance.world);
  return std::make_shared<const LinearProblem>(contextual.problem().linear());
}

inline absl::StatusOr<std::optional<NetChoice>> NetOf(const Settings& settings) {
  BANDANA_ASSIGN_OR_RETURN(const Experiment experiment, ReadExperiment(settings));
  return NetOf(std::any_cast<const LinearWorldParams&>(experiment.world), experiment.run.horizon);
}

inline absl::StatusOr<std::shared_ptr<const PolicySet>> MakePolicies(const Settings& settings) {
  BANDANA_ASSIGN_OR_RETURN(const Experiment experiment, ReadExperiment(settings));
  return MakePolicies(
      std::any_cast<const ContextualWorldParams&>(experiment.world),
      {.horizon = experiment.run.horizon, .seed = static_cast<std::uint64_t>(experiment.run.seed)});
}

}  // namespace bandana::lab
