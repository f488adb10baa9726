#include "bandana/lab/estimate.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <memory>
#include <utility>
#include <vector>

#include "bandana/core/status.h"
#include "bandana/lab/experiment.h"
#include "fmt/format.h"

namespace bandana::lab {
namespace {

constexpr Count kShortestCut = 16;
constexpr double kMostPerPoint = 0.2;  // seconds
constexpr double kMostInAll = 1.5;     // seconds for the last cuts; the cuts before them take as long again
constexpr double kShareOfRun = 0.02;   // the share of a run's time that its estimate may take
constexpr double kMostPerCut = 1;
constexpr double kWorthSaying = 60;
constexpr double kSurelyShort = 2e10;  // multiplications: seconds on any machine
constexpr double kRate = 4e9;          // multiplications per second, roughly

// Counts the multiplications of deciding and of learning in every round of a run. Returns 0 for algorithms
// whose runs are short.
absl::StatusOr<double> MultiplicationsOf(const Settings& settings) {
  BANDANA_ASSIGN_OR_RETURN(Experiment experiment, ReadExperiment(settings));
  if (!experiment.family->for_short_run) return 0.0;
  BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<World> world, MakeWorldOf(experiment, 0));
  const Facts& facts = world->facts();
  const auto d = static_cast<double>(facts.dimension);
  return static_cast<double>(facts.horizon) * static_cast<double>(facts.people) * d * d *
         (static_cast<double>(facts.arms) + 10 * d);
}

std::string RoughDuration(double seconds) {
  constexpr double kMinute = 60;
  constexpr double kHour = 60 * kMinute;
  constexpr double kDay = 24 * kHour;
  const auto [unit, name] = seconds < 2 * kHour  ? std::pair(kMinute, "min")
                            : seconds < 4 * kDay ? std::pair(kHour, "h")
                                                 : std::pair(kDay, "days");
  return fmt::format("{} {}", std::lround(seconds / unit), name);
}

}  // namespace

absl::StatusOr<Settings> CutTo(const Settings& settings, Count rounds) {
  Settings cut = settings;
  cut.Set("horizon", static_cast<std::int64_t>(rounds));
  cut.Set("checkpoints", std::int64_t{1});
  BANDANA_ASSIGN_OR_RETURN(Experiment experiment, ReadExperiment(settings));
  if (!experiment.family->for_short_run) return cut;
  BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<World> world, MakeWorldOf(experiment, 0));
  BANDANA_ASSIGN_OR_RETURN(const Values changed, experiment.family->for_short_run(
                                                     experiment.params, experiment.privacy, world->facts()));
  for (const Option& option : experiment.family->options) {
    if (const auto it = changed.find(option.key); it != changed.end()) cut.Set(option.FullKey(), it->second);
  }
  return cut;
}

absl::StatusOr<ReplicateEstimate> EstimateReplicate(const Settings& settings, double enough,
                                                    const TimeReplicate& time) {
  const Count horizon = settings.Integer("horizon");
  const Count first = std::min(kShortestCut, horizon);
  BANDANA_ASSIGN_OR_RETURN(Settings cut, CutTo(settings, first));
  BANDANA_ASSIGN_OR_RETURN(const double start, time(cut));
  if (first == horizon) return ReplicateEstimate{start, first};
  for (Count rounds = 2 * first;; rounds *= 2) {
    rounds = std::min(rounds, horizon);
    cut.Set("horizon", static_cast<std::int64_t>(rounds));
    BANDANA_ASSIGN_OR_RETURN(const double seconds, time(cut));
    if (rounds == horizon) return ReplicateEstimate{seconds, rounds};
    const double more = seconds - start;
    if (more < enough && seconds < kMostPerCut) continue;
    const double each =
        more > 0 ? more / static_cast<double>(rounds - first) : seconds / static_cast<double>(rounds);
    return ReplicateEstimate{seconds + each * static_cast<double>(horizon - rounds), rounds};
  }
}

absl::StatusOr<RunEstimate> EstimateRun(const Spec& spec, std::size_t done, int threads,
                                        const TimeReplicate& time) {
  const auto replicates = static_cast<std::size_t>(spec.replicates());
  const auto left_of = [&](std::size_t point) {
    const std::size_t end = (point + 1) * replicates;
    return std::min(replicates, end - std::min(done, end));
  };
  RunEstimate estimate{.threads = std::max(threads, 1)};
  double multiplications = 0;
  std::vector<std::size_t> points;  // those that are worth timing
  for (std::size_t i = 0; i < spec.points.size(); ++i) {
    if (left_of(i) == 0) continue;
    BANDANA_ASSIGN_OR_RETURN(const double each, MultiplicationsOf(spec.points[i].settings));
    if (each > 0) points.push_back(i);
    multiplications += each * static_cast<double>(left_of(i));
  }
  if (multiplications < kSurelyShort) return estimate;
  const double all = std::min(kMostInAll, kShareOfRun * multiplications / kRate / estimate.threads);
  const double enough = std::min(kMostPerPoint, all / static_cast<double>(points.size()));
  for (const std::size_t i : points) {
    BANDANA_ASSIGN_OR_RETURN(const ReplicateEstimate each,
                             EstimateReplicate(spec.points[i].settings, enough, time));
    estimate.seconds += each.seconds * static_cast<double>(left_of(i)) / estimate.threads;
    estimate.shortest = estimate.shortest == 0 ? each.rounds : std::min(estimate.shortest, each.rounds);
    estimate.longest = std::max(estimate.longest, each.rounds);
  }
  return estimate;
}

TimeReplicate ByTheClock(const std::atomic<bool>& stop) {
  return [&stop](const Settings& settings) -> absl::StatusOr<double> {
    const std::clock_t begin = std::clock();
    BANDANA_RETURN_IF_ERROR(RunReplicate(settings, 0, stop).status());
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
}

std::string Warning(const RunEstimate& estimate) {
  if (!(estimate.seconds > kWorthSaying)) return "";
  const std::string cuts =
      estimate.shortest == estimate.longest
          ? fmt::format("a short run of {} rounds", estimate.longest)
          : fmt::format("short runs of {} to {} rounds", estimate.shortest, estimate.longest);
  return fmt::format(
      "the run will take about {} on {} thread{} (measured on {}); after Ctrl-C, --resume continues the run",
      RoughDuration(estimate.seconds), estimate.threads, estimate.threads == 1 ? "" : "s", cuts);
}

}  // namespace bandana::lab
