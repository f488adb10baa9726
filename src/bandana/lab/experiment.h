#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/federation/federation.h"
#include "bandana/lab/point.h"
#include "bandana/lab/settings.h"
#include "bandana/sim/simulate.h"

/// Turns resolved settings into runs. The lab knows an algorithm or a world only by its entry in the
/// registry. Errors name dotted keys.
namespace bandana::lab {

/// A point's world and algorithm, made for one replicate.
struct Instance {
  Experiment experiment;
  std::unique_ptr<World> world;
  Federation federation;
};

/// Makes the world of a replicate. It completes those parameters of the world that depend on the algorithm.
absl::StatusOr<std::unique_ptr<World>> MakeWorldOf(Experiment& experiment, std::uint32_t replicate);

absl::StatusOr<Instance> MakeInstance(const Settings& settings, std::uint32_t replicate);

/// Returns how a replicate of the point is simulated.
SimulateOptions OptionsOf(const Experiment& experiment, const Settings& settings,
                          std::uint32_t replicate = 0);

/// Runs a replicate in the simulator, on `threads` threads where that helps. `decisions`: keeps what every
/// agent of a federation played. Ends with kCancelled soon after `stop` turns true.
absl::StatusOr<Outcome> RunReplicate(const Settings& settings, std::uint32_t replicate,
                                     const std::atomic<bool>& stop, int threads = 1, bool decisions = false);

/// Fails if the point cannot run: makes its first instance without running it.
absl::Status CheckPoint(const Settings& settings);

/// Returns the privacy claims of a point.
absl::StatusOr<std::vector<Claim>> ClaimsOf(const Settings& settings);

}  // namespace bandana::lab
