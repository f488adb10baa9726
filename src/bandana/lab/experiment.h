#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/algorithms/phased_elimination.h"
#include "bandana/bandit/environment.h"
#include "bandana/bandit/linear_problem.h"
#include "bandana/bandit/recorder.h"
#include "bandana/core/status.h"
#include "bandana/lab/settings.h"
#include "bandana/privacy/mean_privatizers.h"
#include "bandana/privacy/shuffle_means.h"

/// From resolved settings to the objects that run: the one place that knows both the vocabulary and the
/// types.
namespace bandana::lab {

/// The instance of a replicate.
absl::StatusOr<std::shared_ptr<const LinearProblem>> MakeProblem(const Settings& settings,
                                                                 std::uint32_t replicate);

/// What the learner knows of it: the problem's actions, or its estimates of them.
absl::StatusOr<std::shared_ptr<const ActionMatrix>> LearnersActions(
    const Settings& settings, const std::shared_ptr<const LinearProblem>& problem);

/// The clients who live in it.
absl::StatusOr<std::unique_ptr<Environment>> MakePopulation(const Settings& settings, std::uint32_t replicate,
                                                            std::shared_ptr<const LinearProblem> problem);

GaussianParams MakeGaussianParams(const Settings& settings);
LaplaceParams MakeLaplaceParams(const Settings& settings);
ShuffleSumMeanParams MakeShuffleSumParams(const Settings& settings);
ShuffledLaplaceMeanParams MakeShuffledLaplaceParams(const Settings& settings);

/// Calls `use` with the privatizer of privacy.model and its variants.
template <class Use>
auto WithPrivatizer(const Settings& settings, Use use) -> decltype(use(std::declval<NoPrivacyMean>())) {
  const auto with = [&](auto privatizer) -> decltype(use(std::declval<NoPrivacyMean>())) {
    if (!privatizer.ok()) return privatizer.status();
    return use(*privatizer);
  };
  const std::string& model = settings.Text("privacy.model");
  if (model == "shuffle") {
    return settings.Text("privacy.shuffle") == "sum"
               ? with(ShuffleSumMean::Create(MakeShuffleSumParams(settings)))
               : with(ShuffledLaplaceMean::Create(MakeShuffledLaplaceParams(settings)));
  }
  if (model == "none") return use(NoPrivacyMean(Declassify("privacy.model = none")));
  const bool central = model == "central";
  if (settings.Text("privacy.noise") == "laplace") {
    const LaplaceParams params = MakeLaplaceParams(settings);
    return central ? with(CentralLaplaceMean::Create(params)) : with(LocalLaplaceMean::Create(params));
  }
  const GaussianParams params = MakeGaussianParams(settings);
  return central ? with(CentralGaussianMean::Create(params)) : with(LocalGaussianMean::Create(params));
}

/// What a point promises, and why it promises nothing if its claim is void.
absl::StatusOr<std::vector<Claim>> ClaimsOf(const Settings& settings);

/// What one replicate of a point came to.
struct Outcome {
  std::vector<Checkpoint> checkpoints;
  std::vector<PhaseRecord> phases;
  std::vector<std::vector<ArmId>> decisions = {};  ///< of each agent of a federation, if asked for
  std::vector<std::vector<Pull>> pulls = {};       ///< the same of agents with arms in common
};

/// Runs a replicate in the simulator, on `threads` threads where that helps. `decisions`: keeps those of a
/// federation's agents. Ends with kCancelled soon after `stop` turns true.
absl::StatusOr<Outcome> RunReplicate(const Settings& settings, std::uint32_t replicate,
                                     const std::atomic<bool>& stop, int threads = 1, bool decisions = false);

/// Whatever can be wrong with a point before it runs.
absl::Status CheckPoint(const Settings& settings);

/// Why a point's claim is void though it draws noise; empty if it is not.
std::string VoidReason(const Settings& settings);

}  // namespace bandana::lab
