#include "bandana/lab/runner.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "bandana/core/status.h"
#include "bandana/lab/estimate.h"
#include "bandana/lab/experiment.h"
#include "bandana/lab/phase_json.h"
#include "bandana/lab/progress.h"
#include "bandana/lab/report.h"
#include "bandana/lab/results.h"
#include "fmt/format.h"

namespace bandana::lab {
namespace {

// The trace of an agent lists its arms if it plays one arm per round, and its pulls if it is on a network.
Json DecisionsToJson(std::size_t agent, const std::vector<Pull>& decisions, bool network) {
  Json list = Json::array();
  for (const Pull& pull : decisions) {
    if (network) {
      list.push_back({pull.arm, pull.count});
    } else {
      list.push_back(pull.arm);
    }
  }
  return Json{{"agent", agent}, {network ? "pulls" : "arms", list}};
}

// Runs replicates on several threads. They are started in order by any thread, and written in order by the
// thread that finishes the next one, so the file is the same for any number of threads.
class Pool {
 public:
  Pool(const Spec& spec, ResultsFile& results, std::ofstream& trace, Progress& progress,
       const RunOptions& options, const std::atomic<bool>& stop)
      : spec_(spec),
        results_(results),
        trace_(trace),
        progress_(progress),
        options_(options),
        stop_(stop),
        next_(results.done()) {}

  absl::Status Run(int threads) {
    // If there are more threads than replicates, each replicate gets several.
    const std::size_t left = spec_.points.size() * static_cast<std::size_t>(spec_.replicates()) - next_;
    threads_each_ = std::max(1, threads / static_cast<int>(std::clamp<std::size_t>(left, 1, 1 << 20)));
    std::vector<std::jthread> workers;
    for (int i = 1; i < threads; ++i) workers.emplace_back([this] { Work(); });
    Work();
    workers.clear();
    if (stop_) return absl::CancelledError("interrupted");
    return status_;
  }

 private:
  void Work() {
    const auto replicates = static_cast<std::size_t>(spec_.replicates());
    const std::size_t total = spec_.points.size() * replicates;
    while (!stop_ && !failed_) {
      const std::size_t task = next_++;
      if (task >= total) return;
      const Point& point = spec_.points[task / replicates];
      absl::StatusOr<Outcome> outcome = Run(task / replicates, static_cast<std::uint32_t>(task % replicates));
      if (!outcome.ok()) outcome = WithSource(outcome.status(), point.sources, spec_.file);
      Commit(task, std::move(outcome));
    }
  }

  absl::StatusOr<Outcome> Run(std::size_t point, std::uint32_t replicate) const {
    if (!options_.replicate) {
      return RunReplicate(spec_.points[point].settings, replicate, stop_, threads_each_, trace_.is_open());
    }
    BANDANA_ASSIGN_OR_RETURN(std::vector<Checkpoint> checkpoints, options_.replicate(point, replicate));
    return Outcome{.checkpoints = std::move(checkpoints)};
  }

  void Commit(std::size_t task, absl::StatusOr<Outcome> outcome) {
    const std::lock_guard lock(mutex_);
    if (failed_) return;
    finished_.emplace(task, std::move(outcome));
    while (!finished_.empty() && finished_.begin()->first == results_.done()) {
      const absl::StatusOr<Outcome> ready = std::move(finished_.extract(finished_.begin()).mapped());
      if (ready.ok() && trace_.is_open()) Trace(*ready);
      status_ = ready.ok() ? results_.Append(ready->checkpoints) : ready.status();
      if (!status_.ok()) {
        failed_ = true;
        return;
      }
      progress_.Update(results_.done());
      if (options_.progress != nullptr) options_.progress->done = results_.done();
    }
  }

  void Trace(const Outcome& outcome) {
    const auto replicates = static_cast<std::size_t>(spec_.replicates());
    const Json place = {{"point", results_.done() / replicates}, {"replicate", results_.done() % replicates}};
    for (const PhaseRecord& phase : outcome.phases) {
      Json line = place;
      line.update(ToJson(phase));
      trace_ << line.dump() << "\n";
    }
    for (std::size_t i = 0; i < outcome.decisions.size(); ++i) {
      Json line = place;
      line.update(DecisionsToJson(i + 1, outcome.decisions[i], outcome.network.has_value()));
      trace_ << line.dump() << "\n";
    }
    trace_.flush();
  }

  const Spec& spec_;
  ResultsFile& results_;
  std::ofstream& trace_;
  Progress& progress_;
  const RunOptions& options_;
  const std::atomic<bool>& stop_;
  std::atomic<std::size_t> next_;
  int threads_each_ = 1;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  std::map<std::size_t, absl::StatusOr<Outcome>> finished_;  // outcomes that wait for an earlier replicate
  absl::Status status_;
};

// Checks all points before any of them runs, so that an error in a late point shows at once.
absl::Status CheckPoints(const Spec& spec) {
  for (const Point& point : spec.points) {
    BANDANA_RETURN_IF_ERROR(WithSource(CheckPoint(point.settings), point.sources, spec.file));
  }
  return absl::OkStatus();
}

// Prints how long the run will take. Prints nothing if the estimate fails: that is no reason not to run.
void SayHowLong(const Spec& spec, std::size_t done, int threads, const std::atomic<bool>& stop) {
  const absl::StatusOr<RunEstimate> estimate = EstimateRun(spec, done, threads, ByTheClock(stop));
  const std::string text = estimate.ok() ? Warning(*estimate) : "";
  if (!text.empty()) fmt::print(stderr, "{}\n", text);
}

}  // namespace

absl::StatusOr<Json> RunExperiment(const Spec& spec, const RunOptions& options,
                                   const std::atomic<bool>& stop) {
  BANDANA_RETURN_IF_ERROR(CheckPoints(spec));
  // All checks, and the trace file, come before the folder is made, so that a failed attempt leaves no folder
  // in the way of the next one.
  std::ofstream trace;
  if (!options.trace.empty()) {
    trace.open(options.trace, options.resume ? std::ios::app : std::ios::trunc);
    if (!trace) {
      return InvalidInput({.message = "cannot be written",
                           .file = options.trace,
                           .key = "--trace",
                           .accepted = "a file that can be written"});
    }
  }
  BANDANA_ASSIGN_OR_RETURN(ResultsFile results, options.resume ? ResultsFile::Resume(options.out, spec)
                                                               : ResultsFile::Create(options.out, spec));
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t cpu_begin = std::clock();
  {
    const std::size_t total = spec.points.size() * static_cast<std::size_t>(spec.replicates());
    const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    const int threads = options.threads > 0 ? options.threads : cores;
    if (!options.quiet) SayHowLong(spec, results.done(), threads, stop);
    Progress progress("replicates", total, results.done(), options.quiet);
    if (options.progress != nullptr) {
      options.progress->done = results.done();
      options.progress->total = total;
    }
    Pool pool(spec, results, trace, progress, options, stop);
    BANDANA_RETURN_IF_ERROR(pool.Run(threads));
  }
  const Timing timing{std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
                      static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC};
  BANDANA_ASSIGN_OR_RETURN(Json summary, Summarize(spec, results, timing));
  const Json concluded = options.conclude ? options.conclude(summary, results.values()) : Json::object();
  Json data = {{"summary", summary},
               {"spec", spec.toml},
               {"command", options.command},
               {"swept", spec.swept},
               {"simulated", true}};
  data.update(concluded);
  BANDANA_RETURN_IF_ERROR(WriteFile(options.out + "/summary.json", Dump(summary)));
  BANDANA_RETURN_IF_ERROR(WriteFile(options.out + "/report.html", RenderReport(data)));
  return summary;
}

}  // namespace bandana::lab
