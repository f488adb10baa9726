#include "bandana/lab/replay.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "bandana/bandit/auto_lending.h"
#include "bandana/bandit/lending_rounds.h"
#include "bandana/bandit/logged_rounds.h"
#include "bandana/bandit/off_policy.h"
#include "bandana/core/status.h"
#include "bandana/lab/rewards.h"
#include "bandana/lab/user_parts.h"
#include "bandana/lab/user_run.h"
#include "fmt/format.h"

namespace bandana::lab {
namespace {

constexpr double kLevel = 0.05;
constexpr double kSpreads = 1.959963984540054;  // of a normal law, two-sided
constexpr double kPenalty = 1;                  // of the model in doubly robust estimates

/// At the same level, what n rounds without an event still leave open (the rule of three).
double Pad(const Interval& rewards, double n) { return 3 * (rewards.high - rewards.low) / n; }

/// Adds up what comes of a world's rounds.
template <class World>
class Earning final : public World {
 public:
  using World::World;

  std::optional<double> Reward(ArmId arm) {
    const std::optional<double> reward = World::Reward(arm);
    if (reward.has_value()) {
      ++rounds_;
      sum_ += *reward;
      squares_ += *reward * *reward;
    }
    return reward;
  }

  /// Rewards need not be independent of each other: the learner's choices are not. What is left of them when
  /// their conditional means are taken off is a martingale, and the interval is the central limit theorem's.
  /// Few rounds, or rewards that are all alike, say less than that: it is widened by 3/n of where rewards
  /// are.
  void Write(const Interval& rewards, Checkpoint& checkpoint) const {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    checkpoint.value = checkpoint.value_low = checkpoint.value_high = kNan;
    if (rounds_ == 0) return;
    const auto n = static_cast<double>(rounds_);
    checkpoint.value = sum_ / n;
    const double variance = std::max(0.0, squares_ / n - checkpoint.value * checkpoint.value);
    const double reach = kSpreads * std::sqrt(variance / n) + Pad(rewards, n);
    checkpoint.value_low = std::clamp(checkpoint.value - reach, rewards.low, rewards.high);
    checkpoint.value_high = std::clamp(checkpoint.value + reach, rewards.low, rewards.high);
  }

 private:
  Count rounds_ = 0;
  double sum_ = 0;
  double squares_ = 0;
};

/// Just enough of a world for a policy to choose in.
class OneRound {
 public:
  explicit OneRound(const LoggedFeatures& features) : features_(&features) {}
  void Set(const ContextView& context) { features_->Write(context, contexts_); }
  void Scores(std::span<const double> thetas, std::span<double> scores) const {
    LoggedFeatures::Scores(contexts_, features_->multi(), thetas, scores);
  }

 private:
  const LoggedFeatures* features_;
  ActionMatrix contexts_;
};

/// The choice by the thetas of the moment, whatever else the algorithm explores.
ArmId GreedyArm(const UserPolicy& policy, const OneRound& round, std::vector<double>& scores) {
  if (!policy.warming_up()) return policy.Choose(round, scores);
  scores.resize(static_cast<std::size_t>(policy.frame().arms));
  round.Scores(policy.thetas(), scores);
  return LargestScore(scores);
}

absl::StatusOr<ValueEstimate> GreedyValue(const UserPolicy& policy, const LoggedFeatures& features,
                                          const LoggedData& log, const Interval& rewards) {
  OneRound round(features);
  std::vector<double> scores;
  const StochasticPolicy greedy = [&](const ContextView& context, Eigen::Ref<Vector> probabilities) {
    round.Set(context);
    probabilities.setZero();
    probabilities[GreedyArm(policy, round, scores)] = 1;
  };
  return CrossFittedDoublyRobust(log, greedy, kPenalty, {.rewards = rewards, .level = kLevel});
}

bool IsLending(const Settings& settings) { return settings.Text("environment.log") == "auto-lending"; }

bool IsDoublyRobust(const Settings& settings) {
  return !IsLending(settings) && settings.Text("environment.evaluation") == "doubly-robust";
}

ParameterKind ParametersOf(const Settings& settings) {
  return settings.Text("environment.parameters") == "multi" ? ParameterKind::kMulti : ParameterKind::kSingle;
}

/// What is replayed, and what learners must know of it.
struct Source {
  UserSpace space;
  // obp
  std::shared_ptr<const LoggedData> log;
  std::shared_ptr<const LoggedData> held_out;  // for evaluation, or null
  std::optional<double> multiplier;
  std::optional<LoggedFeatures> features;
  // auto-lending
  std::shared_ptr<const AutoLendingProblem> lending;
};

Interval RewardsOf(const Settings& settings, const MeanFunction& mean) {
  if (mean.link() == Link::kPoisson) return {0, static_cast<double>(mean.bound())};
  if (mean.link() != Link::kIdentity) return {0, 1};
  const double bound = settings.NumberOrAuto("environment.reward_bound").value_or(1);
  return {-bound, bound};
}

absl::Status CheckRewards(const LoggedData& log, const Interval& rewards) {
  for (Count t = 0; t < log.rounds(); ++t) {
    if (log.reward(t) >= rewards.low && log.reward(t) <= rewards.high) continue;
    return InvalidInput({.message = fmt::format("round {} of the log has another", t),
                         .key = "environment.reward_bound",
                         .value = fmt::format("{}", log.reward(t)),
                         .accepted = fmt::format("rewards in [{}, {}], by environment.link and its bound",
                                                 rewards.low, rewards.high)});
  }
  return absl::OkStatus();
}

// The warm-up asks for every action in turn, and waits for it.
absl::Status CheckActions(const LoggedData& log) {
  std::vector<bool> seen(static_cast<std::size_t>(log.num_actions()), false);
  for (Count t = 0; t < log.rounds(); ++t) seen[static_cast<std::size_t>(log.action(t))] = true;
  const auto missing = std::find(seen.begin(), seen.end(), false);
  if (missing == seen.end()) return absl::OkStatus();
  return InvalidInput(
      {.message = fmt::format("the log never has action {}", missing - seen.begin()),
       .key = "environment.actions",
       .value = fmt::format("{}", log.num_actions()),
       .accepted = "as many actions as are in the log, with environment.parameters = \"multi\""});
}

std::vector<std::string> IgnoredColumns(const Settings& settings) {
  std::vector<std::string> names;
  for (const auto word : absl::StrSplit(settings.Text("environment.ignore"), ',', absl::SkipWhitespace())) {
    names.emplace_back(absl::StripAsciiWhitespace(word));
  }
  return names;
}

absl::StatusOr<Source> ReadLog(const Settings& settings, const MeanFunction& mean) {
  const std::string& path = settings.Text("environment.file");
  BANDANA_ASSIGN_OR_RETURN(
      LoggedData read, ReadLoggedData(path, {.num_actions = settings.Integer("environment.actions"),
                                             .action_context = settings.Text("environment.action_context"),
                                             .ignored = IgnoredColumns(settings)}));
  Source source;
  const Interval rewards = RewardsOf(settings, mean);
  if (const absl::Status status = CheckRewards(read, rewards); !status.ok()) return WithFile(status, path);
  const double bound = settings.NumberOrAuto("environment.context_bound").value_or(1);
  BANDANA_ASSIGN_OR_RETURN(source.features, LoggedFeatures::Create(read, ParametersOf(settings), bound));
  source.multiplier = read.smallest_pscore();
  if (IsDoublyRobust(settings)) {
    constexpr Count kLeast = 8;
    if (read.rounds() < kLeast) {
      return WithFile(
          InvalidOption("environment.evaluation", "doubly-robust",
                        fmt::format("replay for a log of {} rounds, less than {}", read.rounds(), kLeast)),
          path);
    }
    const Count half = read.rounds() / 2;
    source.log = std::make_shared<const LoggedData>(read.Part(0, half));
    source.held_out = std::make_shared<const LoggedData>(read.Part(half, read.rounds()));
  } else {
    source.log = std::make_shared<const LoggedData>(std::move(read));
  }
  if (source.features->multi()) {
    if (const absl::Status status = CheckActions(*source.log); !status.ok()) return WithFile(status, path);
  }
  source.space = {
      .dimension = source.features->dimension(),
      .arms = source.log->num_actions(),
      .multi = source.features->multi(),
      .mean = mean,
      .theta_norm = settings.NumberOrAuto("environment.theta_bound").value_or(1),
      .context_bound = 1,  // features are divided by the bound
      .rewards = rewards,
      .reward_proxy = (rewards.high - rewards.low) / 2,
      .rounds = static_cast<Count>(*source.multiplier * static_cast<double>(source.log->rounds()))};
  return source;
}

absl::StatusOr<Source> ReadLending(const Settings& settings, const MeanFunction& mean) {
  if (ParametersOf(settings) != ParameterKind::kSingle) {
    return InvalidOption("environment.parameters", "multi", "single with environment.log = \"auto-lending\"");
  }
  const bool revenue = settings.Text("environment.payoff") == "revenue";
  if (mean.link() == Link::kPoisson || (!revenue && mean.link() != Link::kLogistic)) {
    return InvalidOption("environment.link", settings.Text("environment.link"),
                         revenue ? "identity, logistic, probit with environment.payoff = \"revenue\""
                                 : "logistic with environment.payoff = \"acceptance\"");
  }
  const std::string& path = settings.Text("environment.file");
  const bool twin = path.empty();
  const auto seed = static_cast<std::uint64_t>(settings.Integer("seed"));
  auto loans = twin ? SyntheticTwin(seed, settings.Integer("environment.loans")) : ReadAutoLending(path);
  if (!loans.ok()) return loans.status();
  AutoLendingOptions options{.prices = settings.Integer("environment.actions"),
                             .reward = revenue ? LendingReward::kRevenue : LendingReward::kAcceptance};
  if (twin) options.scale = TwinScale();
  BANDANA_ASSIGN_OR_RETURN(AutoLendingProblem problem,
                           AutoLendingProblem::Create(*std::move(loans), options));
  Source source;
  source.lending = std::make_shared<const AutoLendingProblem>(std::move(problem));
  source.space = {
      .dimension = AutoLendingProblem::dimension(),
      .arms = source.lending->actions(),
      .multi = false,
      .mean = mean,
      .theta_norm = settings.NumberOrAuto("environment.theta_bound").value_or(source.lending->theta().norm()),
      .context_bound = settings.NumberOrAuto("environment.context_bound").value_or(1),
      .rewards = {0, 1},
      .reward_proxy = 0.5};
  return source;
}

absl::StatusOr<Source> Read(const Settings& settings) {
  BANDANA_RETURN_IF_ERROR(CheckUserNames(settings));
  BANDANA_ASSIGN_OR_RETURN(const MeanFunction mean, MeanFunctionOf(settings));
  return IsLending(settings) ? ReadLending(settings, mean) : ReadLog(settings, mean);
}

template <class Learner>
absl::StatusOr<std::vector<Checkpoint>> RunLog(const Settings& settings, std::uint32_t replicate,
                                               const Source& source, Learner& learner,
                                               const std::atomic<bool>& stop) {
  BANDANA_ASSIGN_OR_RETURN(Replay replay, Replay::Create(source.log, source.multiplier));
  Earning<LoggedRounds> world(std::move(replay), *source.features,
                              static_cast<std::uint64_t>(settings.Integer("seed")), replicate);
  Checkpoint before{.rounds = -1};
  const auto note = [&](Checkpoint& now) -> absl::Status {
    now.offered = world.replay().offered();
    now.matched = world.replay().matched();
    if (source.held_out == nullptr) {
      world.Write(source.space.rewards, now);
      return absl::OkStatus();
    }
    if (now.rounds != before.rounds) {
      BANDANA_ASSIGN_OR_RETURN(
          const ValueEstimate estimate,
          GreedyValue(learner.policy(), *source.features, *source.held_out, source.space.rewards));
      before.value = estimate.value;
      const Interval& rewards = source.space.rewards;
      const double pad = Pad(rewards, std::max(1.0, estimate.effective_sample_size));
      before.value_low = std::clamp(estimate.normal.low - pad, rewards.low, rewards.high);
      before.value_high = std::clamp(estimate.normal.high + pad, rewards.low, rewards.high);
      before.rounds = now.rounds;
    }
    now.value = before.value;
    now.value_low = before.value_low;
    now.value_high = before.value_high;
    return absl::OkStatus();
  };
  BANDANA_ASSIGN_OR_RETURN(std::vector<Checkpoint> checkpoints,
                           RunUserLearner(settings, replicate, learner, world, stop, note));
  for (Checkpoint& checkpoint : checkpoints) {
    checkpoint.regret = checkpoint.best_action_rate = std::numeric_limits<double>::quiet_NaN();
  }
  return checkpoints;
}

template <class Learner>
absl::StatusOr<std::vector<Checkpoint>> RunLending(const Settings& settings, std::uint32_t replicate,
                                                   const Source& source, Learner& learner,
                                                   const std::atomic<bool>& stop) {
  Earning<LendingRounds> world(source.lending, static_cast<std::uint64_t>(settings.Integer("seed")),
                               replicate);
  return RunUserLearner(settings, replicate, learner, world, stop, [&](Checkpoint& now) {
    now.offered = now.matched = now.rounds;
    world.Write(source.space.rewards, now);
    return absl::OkStatus();
  });
}

}  // namespace

bool IsReplay(const Settings& settings) { return settings.Text("environment.kind") == "replay"; }

absl::Status CheckReplay(const Settings& settings) {
  BANDANA_ASSIGN_OR_RETURN(const Source source, Read(settings));
  return WithUserLearner(settings, source.space, [](auto&) { return absl::OkStatus(); });
}

std::string ReplayVoidReason(const Settings& settings) {
  const bool people = IsReplay(settings) && IsLending(settings) && !settings.Text("environment.file").empty();
  if (!people || settings.Text("privacy.model") == "none") return "";
  return "environment.file: applicants of the file are drawn again and again, each time with a message, and "
         "the scale of "
         "their features, the prices and environment.theta_bound come out of the file";
}

std::vector<std::string> ReplayNotes(const Settings& settings) {
  if (!IsReplay(settings) || IsLending(settings) || settings.Text("privacy.model") == "none") return {};
  return {
      "The claim is for users of the world that the log stands for, each of whom would send a message. It is "
      "not for the "
      "people in the log: which of its rounds counted, and what they earned, is computed from their records "
      "as they "
      "are."};
}

absl::StatusOr<std::vector<Claim>> ReplayClaims(const Settings& settings) {
  BANDANA_ASSIGN_OR_RETURN(const Source source, Read(settings));
  return UserClaims(settings, source.space);
}

absl::StatusOr<std::vector<Checkpoint>> RunReplay(const Settings& settings, std::uint32_t replicate,
                                                  const std::atomic<bool>& stop) {
  BANDANA_ASSIGN_OR_RETURN(const Source source, Read(settings));
  return WithUserLearner(
      settings, source.space, [&](auto& learner) -> absl::StatusOr<std::vector<Checkpoint>> {
        return source.lending != nullptr ? RunLending(settings, replicate, source, learner, stop)
                                         : RunLog(settings, replicate, source, learner, stop);
      });
}

}  // namespace bandana::lab
