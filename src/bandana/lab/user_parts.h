#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/algorithms/ldp_gloc.h"
#include "bandana/algorithms/ldp_ols.h"
#include "bandana/algorithms/ldp_sgd.h"
#include "bandana/algorithms/ldp_ucb.h"
#include "bandana/algorithms/thompson_sampling.h"
#include "bandana/bandit/glm_problem.h"
#include "bandana/lab/settings.h"
#include "bandana/privacy/claim.h"

/// From resolved settings to P5's learners and their mechanisms.
namespace bandana::lab {

/// What a learner must know of the world: public.
struct UserSpace {
  Count dimension = 0;
  Count arms = 0;
  bool multi = false;
  MeanFunction mean;
  double theta_norm = 1;
  double context_bound = 1;
  Interval rewards;         ///< to which they are clipped
  double reward_proxy = 1;  ///< sub-Gaussian, of a reward given its mean
  Count rounds = 0;         ///< that will count, about; 0: as many as the horizon
};

/// That kind, privacy.model and contexts go with the algorithm.
absl::Status CheckUserNames(const Settings& settings);

absl::StatusOr<MeanFunction> MeanFunctionOf(const Settings& settings);

/// The instance of a replicate, drawn.
absl::StatusOr<std::shared_ptr<const GlmProblem>> MakeGlmProblem(const Settings& settings,
                                                                 std::uint32_t replicate);

/// What is public of it.
absl::StatusOr<UserSpace> MakeUserSpace(const Settings& settings);

absl::StatusOr<LdpSgd> MakeLdpSgd(const Settings& settings, const UserSpace& space);
absl::StatusOr<LdpOls> MakeLdpOls(const Settings& settings, const UserSpace& space);
absl::StatusOr<LdpUcb> MakeLdpUcb(const Settings& settings, const UserSpace& space);
absl::StatusOr<LdpGloc> MakeLdpGloc(const Settings& settings, const UserSpace& space);
absl::StatusOr<ThompsonSampling> MakeThompsonSampling(const Settings& settings, const UserSpace& space);

/// Calls `use` with the learner that algorithm.name says.
template <class Use>
auto WithUserLearner(const Settings& settings, const UserSpace& space, Use use)
    -> decltype(use(std::declval<LdpSgd&>())) {
  const auto with = [&](auto learner) -> decltype(use(std::declval<LdpSgd&>())) {
    if (!learner.ok()) return learner.status();
    return use(*learner);
  };
  const std::string& name = settings.Text("algorithm.name");
  if (name == "ldp-sgd") return with(MakeLdpSgd(settings, space));
  if (name == "ldp-ols") return with(MakeLdpOls(settings, space));
  if (name == "ldp-gloc") return with(MakeLdpGloc(settings, space));
  if (name == "thompson-sampling") return with(MakeThompsonSampling(settings, space));
  return with(MakeLdpUcb(settings, space));
}

/// What the learner's messages promise each user; none without privacy.
absl::StatusOr<std::vector<Claim>> UserClaims(const Settings& settings, const UserSpace& space);

}  // namespace bandana::lab
