#include "bandana/lab/experiment.h"

#include <utility>

#include "bandana/core/status.h"
#include "bandana/federation/failure.h"
#include "bandana/lab/spec.h"

namespace bandana::lab {

absl::StatusOr<std::unique_ptr<World>> MakeWorldOf(Experiment& experiment, std::uint32_t replicate) {
  const WorldDraw draw{.horizon = experiment.run.horizon,
                       .seed = static_cast<std::uint64_t>(experiment.run.seed),
                       .replicate = replicate,
                       .one_client_per_round = experiment.family->one_client_per_round};
  if (experiment.family->aim) {
    const absl::Status aimed =
        experiment.family->aim(experiment.params, experiment.privacy, draw, experiment.world);
    BANDANA_RETURN_IF_ERROR(WithKey(aimed, experiment, false));
  }
  absl::StatusOr<std::unique_ptr<World>> world = experiment.kind->make(experiment.world, draw);
  if (!world.ok()) return WithKey(world.status(), experiment, true);
  return world;
}

absl::StatusOr<Instance> MakeInstance(const Settings& settings, std::uint32_t replicate) {
  Instance instance;
  Experiment& experiment = instance.experiment;
  BANDANA_ASSIGN_OR_RETURN(experiment, ReadExperiment(settings));
  BANDANA_ASSIGN_OR_RETURN(instance.world, MakeWorldOf(experiment, replicate));
  absl::StatusOr<Federation> federation =
      experiment.family->create(experiment.params, experiment.privacy, instance.world->facts());
  if (!federation.ok()) return WithKey(federation.status(), experiment, false);
  instance.federation = *std::move(federation);
  if (const auto* losses = std::any_cast<LossParams>(&experiment.simulation)) {
    const absl::Status status = CheckFailures(losses->failures, instance.federation.topology);
    BANDANA_RETURN_IF_ERROR(WithKey(status, experiment, false));
    for (Note& note : NotesOn(*losses, instance.world->facts())) {
      instance.federation.notes.push_back(std::move(note));
    }
  }
  return instance;
}

SimulateOptions OptionsOf(const Experiment& experiment, const Settings& settings, std::uint32_t replicate) {
  SimulateOptions options{.seed = static_cast<std::uint64_t>(experiment.run.seed),
                          .replicate = replicate,
                          .checkpoints = Checkpoints(settings)};
  if (const auto* losses = std::any_cast<LossParams>(&experiment.simulation)) {
    options.failures = losses->failures;
    options.dropout = losses->dropout;
  }
  return options;
}

absl::StatusOr<Outcome> RunReplicate(const Settings& settings, std::uint32_t replicate,
                                     const std::atomic<bool>& stop, int threads, bool decisions) {
  BANDANA_ASSIGN_OR_RETURN(const Instance instance, MakeInstance(settings, replicate));
  SimulateOptions options = OptionsOf(instance.experiment, settings, replicate);
  options.threads = threads;
  options.decisions = decisions;
  options.stop = &stop;
  absl::StatusOr<Outcome> outcome = Simulate(instance.federation, *instance.world, options);
  if (!outcome.ok()) return WithKey(outcome.status(), instance.experiment, false);
  return outcome;
}

absl::Status CheckPoint(const Settings& settings) { return MakeInstance(settings, 0).status(); }

absl::StatusOr<std::vector<Claim>> ClaimsOf(const Settings& settings) {
  BANDANA_ASSIGN_OR_RETURN(Instance instance, MakeInstance(settings, 0));
  return std::move(instance.federation.claims);
}

}  // namespace bandana::lab
