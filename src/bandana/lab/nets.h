#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "bandana/bandit/linear_problem.h"
#include "bandana/bandit/net.h"
#include "bandana/lab/settings.h"

/// Nets as an experiment asks for them (environment.action_set, algorithm.net, algorithm.net_radius).
namespace bandana::lab {

/// algorithm.net_radius = auto keeps a net to so many numbers: 32 MiB.
inline constexpr Count kAutoNetEntries = Count{1} << 22;

struct NetChoice {
  std::optional<ActionSet> set;  ///< none: the drawn or read actions
  bool sampled = false;
  double radius = 0;
  Count most_entries = kMostNetEntries;
  /// Upper bound on the regret over the horizon that is owed to the net and to no learning; for a sample of
  /// an infinite set there is none.
  std::optional<double> cost;
};

/// What a point plays, nothing if it plays its actions as they are. Bad combinations are an InvalidInput.
absl::StatusOr<std::optional<NetChoice>> NetOf(const Settings& settings);

/// The instance of a replicate on an infinite set.
absl::StatusOr<LinearProblem> MakeNetProblem(const Settings& settings, const NetChoice& net,
                                             std::uint32_t replicate);

}  // namespace bandana::lab
