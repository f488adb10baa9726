#pragma once

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "bandana/bandit/glm_problem.h"
#include "bandana/bandit/link.h"
#include "bandana/bandit/world.h"
#include "bandana/bandit/world_kind.h"
#include "bandana/core/options.h"

/// A simulated world with a new user in every round, whose mean rewards follow from <theta, x> through a link
/// (P5). Its rounds are played by bandit/worlds/user_rounds.h.
namespace bandana {

struct GlmUsersParams {
  Count dimension = 0;  ///< d
  Count actions = 0;    ///< K arms
  Link link = Link::kLogistic;
  ParameterKind parameters = ParameterKind::kSingle;
  UserContexts contexts = UserContexts::kSphere;
  double margin = 1;                          ///< beta, with kMargin
  double theta_norm = 1;                      ///< length of every theta
  std::optional<double> theta_bound;          ///< the public bound on that length; empty: theta_norm
  RewardKind reward = RewardKind::kGaussian;  ///< with the identity; other links have laws of their own
  double reward_sd = 0.1;                     ///< with kGaussian
  std::optional<double> reward_bound;         ///< c_r, to which users clip their rewards
  std::optional<double> context_bound;        ///< C_B, to which users shorten their contexts
};

/// The options of the parameters in table "environment". Without `link` they are those of a linear world.
OptionsFor<GlmUsersParams> GlmUsersOptions(bool link);

/// Draws the thetas of a replicate, and declares what is public of the world.
absl::StatusOr<std::unique_ptr<UserWorld>> MakeGlmUsers(const GlmUsersParams& params, const WorldDraw& draw);

/// The worlds "contextual-linear" and "glm" for users.
WorldKind LinearUsersKind();
WorldKind GlmUsersKind();

}  // namespace bandana
