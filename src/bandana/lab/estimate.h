#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "bandana/core/ids.h"
#include "bandana/lab/settings.h"
#include "bandana/lab/spec.h"

/// An estimate, made before a run starts, of how long its points will take, if their algorithm says how to
/// shorten a run (Family::for_short_run). Each point's first replicate is run for a few rounds, which take a
/// fraction of a second, and the time is extrapolated to the horizon. A run with fewer rounds is called a
/// cut. Other points count as taking no time.
namespace bandana::lab {

/// Runs a replicate with these settings and returns how many seconds that took.
using TimeReplicate = std::function<absl::StatusOr<double>(const Settings& settings)>;

struct ReplicateEstimate {
  double seconds = 0;
  Count rounds = 0;  ///< the rounds of the longest cut that was timed
};

/// Returns a point's settings for a cut of so many rounds. A round of the cut must not take longer than a
/// round of the whole run, so the cut has one checkpoint and the options that the algorithm wants changed.
absl::StatusOr<Settings> CutTo(const Settings& settings, Count rounds);

/// Estimates the time of one replicate. Cuts grow by factors of two until one takes `enough` seconds more
/// than the first cut, whose time is nearly all start-up, or until a cut is the whole run. The rounds beyond
/// the last cut are taken to be as long as those after the first one.
absl::StatusOr<ReplicateEstimate> EstimateReplicate(const Settings& settings, double enough,
                                                    const TimeReplicate& time);

struct RunEstimate {
  double seconds = 0;
  int threads = 1;
  Count shortest = 0;  ///< the smallest ReplicateEstimate::rounds of any point
  Count longest = 0;   ///< the largest
};

/// Estimates the time for the replicates after the first `done`, counted point by point, on so many threads.
/// It takes a few seconds at most, and no time if the run is sure to be short.
absl::StatusOr<RunEstimate> EstimateRun(const Spec& spec, std::size_t done, int threads,
                                        const TimeReplicate& time);

/// Returns a function that runs replicates and measures CPU seconds of this process, so that other load on
/// the machine does not count. It ends with kCancelled soon after `stop` turns true.
TimeReplicate ByTheClock(const std::atomic<bool>& stop);

/// Returns a line for people, such as "about 31 h on 2 threads (measured on cuts of 1000 to 2000 rounds);
/// ...". It is empty if the estimate is at most a minute.
std::string Warning(const RunEstimate& estimate);

}  // namespace bandana::lab
