#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "bandana/bandit/linear_problem.h"
#include "bandana/bandit/link.h"
#include "bandana/bandit/net.h"
#include "bandana/bandit/reward_model.h"
#include "bandana/bandit/world_kind.h"

/// The kinds "linear" and "glm" for slots: clients who share their actions, with mean reward mu(<theta, x>).
namespace bandana {

/// How many clients there are if nobody says so and clients watch whole phases: P1's population.
inline constexpr Count kDefaultPopulation = 100'000;

enum class ActionSource { kSphere, kOrthant, kGaussian, kFile };

/// Which of many actions are played.
enum class NetKind {
  kAuto,     ///< a net of an infinite set; all actions of a finite one
  kNone,     ///< all actions of a finite set
  kSampled,  ///< a finite set thinned out, or draws from an infinite one
};

struct LinearWorldParams {
  Link link = Link::kIdentity;
  std::optional<ActionSet> action_set = {};  ///< empty: finitely many actions
  ActionSource contexts = ActionSource::kSphere;
  std::string file = {};  ///< of the actions
  Count dimension = 0;
  Count actions = 0;
  double theta_norm = 1;
  RewardKind reward = RewardKind::kGaussian;
  double reward_sd = 1;
  std::optional<double> reward_bound = {};
  double client_sd = 0;
  std::optional<Count> population = {};
  NetKind net = NetKind::kAuto;
  std::optional<double> net_radius = {};
  Count net_samples = 10'000;
};

/// The net that is played.
struct NetChoice {
  std::optional<ActionSet> set;  ///< empty: the drawn or read actions
  bool sampled = false;
  double radius = 0;
  Count most_entries = kMostNetEntries;
  /// Upper bound on the regret over the horizon that the net can cause, however much is learned. A sample of
  /// an infinite set has none.
  std::optional<double> cost;
};

/// A net whose radius is chosen here has at most this many numbers: 32 MiB.
inline constexpr Count kAutoNetEntries = Count{1} << 22;

/// Returns the net that a world with these parameters plays, or nothing if all actions are played. Fails if
/// the parameters do not go together.
absl::StatusOr<std::optional<NetChoice>> NetOf(const LinearWorldParams& params, Count horizon);

/// Draws the instance of a replicate.
absl::StatusOr<std::shared_ptr<const LinearProblem>> MakeLinearProblem(const LinearWorldParams& params,
                                                                       const WorldDraw& draw);

absl::StatusOr<std::unique_ptr<World>> MakeLinearWorld(const LinearWorldParams& params,
                                                       const WorldDraw& draw);

WorldKind LinearWorldKind();
WorldKind GlmWorldKind();

}  // namespace bandana
