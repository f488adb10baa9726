#include "bandana/audit/auditor.h"

#include <algorithm>
#include <array>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "bandana/audit/distinguisher.h"
#include "bandana/audit/empirical_privacy.h"
#include "bandana/core/noise_door.h"
#include "bandana/core/status.h"

namespace bandana::audit {
namespace {

constexpr std::int64_t kBlock = 1024;  // draws that share a generator; also a thread's unit of work
constexpr Neighbour kBoth[2] = {Neighbour::kFirst, Neighbour::kSecond};

/// A stage is part of the address of a draw.
enum class Stage : std::uint32_t { kLearn = 1, kChoose = 2, kJudge = 3 };

struct Split {
  explicit Split(std::int64_t draws)
      : learn(std::min<std::int64_t>(draws / 4, 1 << 17)),
        choose(std::min<std::int64_t>(draws / 4, 1 << 18)),
        judge(draws - learn - choose) {}
  std::int64_t learn;
  std::int64_t choose;
  std::int64_t judge;
};

class Drawer {
 public:
  Drawer(const Target& target, const AuditOptions& options) : target_(target), options_(options) {}

  // Calls `see(index, view)` for draws 0 .. count - 1 of a stage. One thread makes the calls of a block, in
  // order.
  absl::Status ForEach(Stage stage, Neighbour neighbour, std::int64_t count,
                       absl::FunctionRef<void(std::int64_t index, std::span<const double> view)> see) const {
    const std::int64_t blocks = (count + kBlock - 1) / kBlock;
    std::atomic<std::int64_t> next = 0;
    std::mutex mutex;
    absl::Status status;
    const auto work = [&] {
      std::vector<double> view(target_.dimension);
      std::vector<double> views;  // of a block, for targets that draw by the block
      for (std::int64_t block; (block = next++) < blocks;) {
        const absl::Status drawn = [&]() -> absl::Status {
          if (options_.stop != nullptr && *options_.stop) return absl::CancelledError("interrupted");
          const std::unique_ptr<BitSource> bits = BitsOf(stage, neighbour, block);
          NoiseGen noise = NoiseDoor::Open(*bits);
          const std::int64_t begin = block * kBlock;
          const std::int64_t end = std::min(count, begin + kBlock);
          if (target_.draw_block) {
            views.resize(static_cast<std::size_t>(end - begin) * target_.dimension);
            BANDANA_RETURN_IF_ERROR(target_.draw_block(neighbour, noise, views));
          }
          for (std::int64_t i = begin; i < end; ++i) {
            if (target_.draw_block) {
              const auto at = static_cast<std::size_t>(i - begin) * target_.dimension;
              std::copy_n(views.begin() + static_cast<std::ptrdiff_t>(at), target_.dimension, view.begin());
            } else {
              BANDANA_RETURN_IF_ERROR(target_.draw(neighbour, noise, view));
            }
            if (!std::all_of(view.begin(), view.end(), [](double x) { return std::isfinite(x); })) {
              return absl::InternalError(target_.name + ": the view is not finite");
            }
            see(i, view);
          }
          return absl::OkStatus();
        }();
        if (drawn.ok()) continue;
        const std::lock_guard lock(mutex);
        status.Update(drawn);
        next = blocks;
      }
    };
    {
      std::vector<std::jthread> workers;
      for (int i = 1; i < options_.threads; ++i) workers.emplace_back(work);
      work();
    }
    return status;
  }

 private:
  std::unique_ptr<BitSource> BitsOf(Stage stage, Neighbour neighbour, std::int64_t block) const {
    if (options_.bits == Bits::kSecure) return std::make_unique<SecureSource>();
    return std::make_unique<PhiloxSource>(StreamKey{.seed = options_.seed,
                                                    .replicate = neighbour == Neighbour::kSecond ? 1u : 0u,
                                                    .node = NodeId{static_cast<std::uint32_t>(stage)},
                                                    .epoch = static_cast<Epoch>(block),
                                                    .stream = Stream::kPrivacy});
  }

  const Target& target_;
  const AuditOptions& options_;
};

absl::StatusOr<Training> DrawTraining(const Drawer& drawer, Stage stage, std::size_t dimension,
                                      std::int64_t count) {
  Training training{Sample(dimension, static_cast<std::size_t>(count)),
                    Sample(dimension, static_cast<std::size_t>(count))};
  for (const Neighbour neighbour : kBoth) {
    Sample& sample = neighbour == Neighbour::kFirst ? training.first : training.second;
    BANDANA_RETURN_IF_ERROR(
        drawer.ForEach(stage, neighbour, count, [&](std::int64_t i, std::span<const double> view) {
          std::copy(view.begin(), view.end(), sample[static_cast<std::size_t>(i)].begin());
        }));
  }
  return training;
}

/// The event that a score is on one side of a threshold.
struct Event {
  const Distinguisher* by = nullptr;
  Neighbour speaks_for = Neighbour::kSecond;
  double threshold = 0;
  double promise = 0;  ///< how good the event looked when it was chosen

  bool Holds(std::span<const double> view) const {
    const double score = by->score(view);
    return speaks_for == Neighbour::kSecond ? score >= threshold : score <= threshold;
  }
};

/// The events by which a claim is judged: for each direction, the best against epsilon and the best against
/// delta.
struct Chosen {
  std::array<Event, 2> for_epsilon;
  std::array<Event, 2> for_delta;
};

// Wilson's limits are accurate enough for choosing.
double Wilson(double successes, double trials, double z) {
  const double rate = successes / trials;
  const double shrink = 1 + z * z / trials;
  const double centre = rate + z * z / (2 * trials);
  const double half = std::abs(z) * std::sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials));
  return std::clamp((centre + (z > 0 ? half : -half)) / shrink, 0.0, 1.0);
}

class Chooser {
 public:
  Chooser(DpGuarantee against, double level)
      : against_(against), z_(quantile(complement(boost::math::normal(), level))) {
    for (const int i : {0, 1}) {
      chosen_.for_epsilon[i] = chosen_.for_delta[i] = {.speaks_for = kBoth[i], .promise = kNone};
    }
  }

  void Consider(const Distinguisher& by, const Training& sample) {
    std::vector<double> scores[2];
    const Sample* samples[2] = {&sample.first, &sample.second};
    std::vector<double> thresholds;
    for (const int side : {0, 1}) {
      scores[side].reserve(samples[side]->size());
      for (std::size_t i = 0; i < samples[side]->size(); ++i)
        scores[side].push_back(by.score((*samples[side])[i]));
      AddThresholds(scores[side], thresholds);
    }
    std::sort(thresholds.begin(), thresholds.end());
    thresholds.erase(std::unique(thresholds.begin(), thresholds.end()), thresholds.end());
    // at_least[side][k] counts scores >= thresholds[k]; at_most counts scores <= it.
    std::vector<double> at_least[2], at_most[2];
    for (const int side : {0, 1}) {
      at_least[side].assign(thresholds.size() + 1, 0);
      at_most[side].assign(thresholds.size() + 1, 0);
      for (const double score : scores[side]) {
        const auto above = std::upper_bound(thresholds.begin(), thresholds.end(), score) - thresholds.begin();
        if (above > 0) ++at_least[side][above - 1];
        const auto below = std::lower_bound(thresholds.begin(), thresholds.end(), score) - thresholds.begin();
        ++at_most[side][below];
      }
      for (std::size_t k = thresholds.size(); k > 0; --k) at_least[side][k - 1] += at_least[side][k];
      for (std::size_t k = 0; k < thresholds.size(); ++k) at_most[side][k + 1] += at_most[side][k];
    }
    const auto n = static_cast<double>(sample.first.size());
    for (std::size_t k = 0; k < thresholds.size(); ++k) {
      Try({&by, Neighbour::kSecond, thresholds[k]}, at_least[1][k] / n, at_least[0][k] / n, n);
      Try({&by, Neighbour::kFirst, thresholds[k]}, at_most[0][k] / n, at_most[1][k] / n, n);
    }
  }

  const Chosen& chosen() const { return chosen_; }

 private:
  static constexpr double kNone = -1e300;

  // Adds quantiles as thresholds, closer together towards both ends.
  static void AddThresholds(const std::vector<double>& scores, std::vector<double>& thresholds) {
    constexpr std::size_t kLook = 1 << 15;
    std::vector<double> some(scores.begin(),
                             scores.begin() + static_cast<std::ptrdiff_t>(std::min(kLook, scores.size())));
    std::sort(some.begin(), some.end());
    const std::size_t last = some.size() - 1;
    for (std::size_t i = 0; i <= 64; ++i) thresholds.push_back(some[i * last / 64]);
    for (double rank = 1; rank < static_cast<double>(last) / 64; rank *= 1.5) {
      thresholds.push_back(some[static_cast<std::size_t>(rank)]);
      thresholds.push_back(some[last - static_cast<std::size_t>(rank)]);
    }
  }

  void Try(Event event, double likely, double unlikely, double n) {
    const double low = Wilson(likely * n, n, -z_);
    const double high = Wilson(unlikely * n, n, z_);
    const int side = event.speaks_for == Neighbour::kSecond ? 1 : 0;
    const auto keep = [&](Event& best, double promise) {
      if (best.by != nullptr && promise <= best.promise) return;
      event.promise = promise;
      best = event;
    };
    const double above_delta = low - against_.delta;
    keep(chosen_.for_epsilon[side], above_delta > 0 ? std::log(above_delta / high) : kNone);
    keep(chosen_.for_delta[side], low - std::exp(against_.epsilon) * high);
  }

  DpGuarantee against_;
  double z_;
  Chosen chosen_;
};

absl::Status CheckOptions(const AuditOptions& options) {
  constexpr std::int64_t kMost = std::int64_t{kBlock} << 30;
  if (!(options.draws >= kLeastDraws && options.draws <= kMost)) {
    return InvalidOption(
        "draws", static_cast<double>(options.draws),
        "a whole number from " + std::to_string(kLeastDraws) + " to " + std::to_string(kMost));
  }
  if (!(options.false_alarm >= 1e-12 && options.false_alarm < 1)) {
    return InvalidOption("false_alarm", options.false_alarm, "a number in [1e-12, 1)");
  }
  if (!(options.threads >= 1)) return InvalidOption("threads", options.threads, "a whole number >= 1");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Finding> Audit(const Target& target, const AuditOptions& options) {
  BANDANA_RETURN_IF_ERROR(CheckOptions(options));
  const Split split(options.draws);
  const Drawer drawer(target, options);
  const DpGuarantee against = target.claim ? target.claim->guarantee : DpGuarantee{0, 0};
  const double level = options.false_alarm / 8;

  BANDANA_ASSIGN_OR_RETURN(const Training training,
                           DrawTraining(drawer, Stage::kLearn, target.dimension, split.learn));
  const std::vector<Distinguisher> distinguishers = LearnDistinguishers(target, training);

  BANDANA_ASSIGN_OR_RETURN(const Training candidates,
                           DrawTraining(drawer, Stage::kChoose, target.dimension, split.choose));
  Chooser chooser(against, level);
  for (const Distinguisher& distinguisher : distinguishers) chooser.Consider(distinguisher, candidates);

  const Chosen& chosen = chooser.chosen();
  const std::array<const Event*, 4> events = {&chosen.for_epsilon[0], &chosen.for_epsilon[1],
                                              &chosen.for_delta[0], &chosen.for_delta[1]};
  std::array<std::array<std::atomic<std::int64_t>, 2>, 4> seen{};
  for (const int side : {0, 1}) {
    BANDANA_RETURN_IF_ERROR(drawer.ForEach(Stage::kJudge, kBoth[side], split.judge,
                                           [&](std::int64_t, std::span<const double> view) {
                                             for (std::size_t e = 0; e < events.size(); ++e) {
                                               if (events[e]->Holds(view))
                                                 seen[e][side].fetch_add(1, std::memory_order_relaxed);
                                             }
                                           }));
  }

  Finding finding{.target = target.name,
                  .claim = target.claim,
                  .draws = options.draws,
                  .false_alarm = options.false_alarm};
  for (std::size_t e = 0; e < events.size(); ++e) {
    const int for_side = events[e]->speaks_for == Neighbour::kSecond ? 1 : 0;
    const EventCounts counts{
        .likely = seen[e][for_side], .unlikely = seen[e][1 - for_side], .trials = split.judge};
    // Any of the four events may serve for either bound, because all eight limits hold together.
    const double epsilon = EpsilonLowerBound(counts, against.delta, level);
    if (epsilon > finding.epsilon_lower || finding.distinguisher.empty()) {
      finding.epsilon_lower = epsilon;
      finding.distinguisher = events[e]->by->name;
    }
    finding.delta_lower = std::max(finding.delta_lower, DeltaLowerBound(counts, against.epsilon, level));
  }
  finding.refuted =
      target.claim && (finding.epsilon_lower > against.epsilon || finding.delta_lower > against.delta);
  return finding;
}

}  // namespace bandana::audit
