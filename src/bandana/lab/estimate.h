#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "bandana/core/ids.h"
#include "bandana/lab/settings.h"
#include "bandana/lab/spec.h"

/// How long a run of federated points will take, before it starts: each point's first replicate is run for a
/// few rounds, which take a fraction of a second, and what that took is drawn out to the horizon. Other
/// points count as nothing.
namespace bandana::lab {

/// Runs a replicate with these settings; how many seconds that took.
using TimeReplicate = std::function<absl::StatusOr<double>(const Settings& settings)>;

struct ReplicateEstimate {
  double seconds = 0;
  Count rounds = 0;  ///< of the longest cut
};

/// A point's settings with another horizon and what does not take longer for that: one checkpoint, the prefix
/// sums of the whole horizon, and no synchronisations of a schedule that has only a few in all.
absl::StatusOr<Settings> CutTo(const Settings& settings, Count rounds);

/// Of one replicate. Cuts grow by factors of two until one takes `enough` seconds more than the first, which
/// is nearly all start, or is all of it; rounds beyond it take as long as those after the first cut.
absl::StatusOr<ReplicateEstimate> EstimateReplicate(const Settings& settings, double enough,
                                                    const TimeReplicate& time);

struct RunEstimate {
  double seconds = 0;
  int threads = 1;
  Count shortest = 0;  ///< of the points' longest cuts
  Count longest = 0;
};

/// Of what is left after the first `done` replicates, taken point by point, on so many threads. A few
/// seconds at most are spent on it, and nothing on what is sure to be short.
absl::StatusOr<RunEstimate> EstimateRun(const Spec& spec, std::size_t done, int threads,
                                        const TimeReplicate& time);

/// By running them, in seconds of this process's CPU: what else a machine does is not foreseen. Ends with
/// kCancelled soon after `stop` turns true.
TimeReplicate ByTheClock(const std::atomic<bool>& stop);

/// "about 31 h on 2 threads (measured on cuts of 1000 to 2000 rounds); Ctrl-C leaves what --resume goes on
/// from". Empty up to a minute.
std::string ToText(const RunEstimate& estimate);

}  // namespace bandana::lab
