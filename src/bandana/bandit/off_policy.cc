#include "bandana/bandit/off_policy.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <numbers>
#include <utility>

#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

constexpr double kProbabilitySlack = 1e-9;

double Length(Interval interval) { return interval.high - interval.low; }

absl::Status CheckOptions(const LoggedData& log, const OffPolicyOptions& options, Count fewest) {
  const auto& [low, high] = options.rewards;
  if (!(std::isfinite(low) && std::isfinite(high) && low < high && std::isfinite(high - low))) {
    return InvalidOption("rewards", fmt::format("[{}, {}]", low, high), "finite numbers, low < high");
  }
  if (!(options.level > 0 && options.level < 1)) {
    return InvalidOption("level", options.level, "a number in (0, 1)");
  }
  if (options.weight_bound.has_value() &&
      !(*options.weight_bound >= 1 && std::isfinite(*options.weight_bound))) {
    return InvalidOption("weight_bound", *options.weight_bound, "a finite number >= 1");
  }
  if (log.rounds() < fewest) {
    return InvalidOption("log", fmt::format("{} rounds", log.rounds()),
                         fmt::format("at least {} rounds", fewest));
  }
  for (Count t = 0; t < log.rounds(); ++t) {
    if (log.reward(t) >= low && log.reward(t) <= high) continue;
    return InvalidInput(
        {.message = fmt::format("the reward of round {} is outside the interval of rewards", t),
         .key = "reward",
         .value = fmt::format("{}", log.reward(t)),
         .accepted = fmt::format("a number in [{}, {}], the interval off_policy.rewards", low, high)});
  }
  return absl::OkStatus();
}

absl::Status CheckProbabilities(const Vector& probabilities, Count round) {
  if (probabilities.allFinite() && probabilities.minCoeff() >= 0 &&
      std::abs(probabilities.sum() - 1) <= kProbabilitySlack) {
    return absl::OkStatus();
  }
  return InvalidInput(
      {.message = fmt::format("in round {} the policy does not return a probability distribution", round),
       .key = "policy",
       .value = fmt::format("smallest {}, sum {}", probabilities.minCoeff(), probabilities.sum()),
       .accepted = "numbers >= 0 that add up to 1"});
}

// Calls use(round, pi(. | x), weight) for each round of the log. `use` may fail.
template <class Use>
absl::StatusOr<ValueEstimate> ForRounds(const LoggedData& log, const StochasticPolicy& policy,
                                        const OffPolicyOptions& options, Use use) {
  Vector probabilities(log.num_actions());
  double sum = 0;
  double squares = 0;
  ValueEstimate estimate;
  for (Count t = 0; t < log.rounds(); ++t) {
    policy(log.context(t), probabilities);
    BANDANA_RETURN_IF_ERROR(CheckProbabilities(probabilities, t));
    const double weight = probabilities[log.action(t)] / log.pscore(t);
    if (options.weight_bound.has_value() && !(weight <= *options.weight_bound * (1 + kProbabilitySlack))) {
      return InvalidOption("weight_bound", *options.weight_bound,
                           fmt::format("at least {}, which is the weight of round {}", weight, t));
    }
    sum += weight;
    squares += weight * weight;
    estimate.largest_weight = std::max(estimate.largest_weight, weight);
    BANDANA_RETURN_IF_ERROR(use(t, probabilities, weight));
  }
  estimate.effective_sample_size = squares > 0 ? sum * sum / squares : 0;
  return estimate;
}

// Computes the mean and the unbiased sample variance, by Welford's method.
struct Sample {
  Count count = 0;
  double mean = 0;
  double squares = 0;

  void Add(double value) {
    ++count;
    const double step = value - mean;
    mean += step / static_cast<double>(count);
    squares += step * (value - mean);
  }
  double variance() const { return squares / static_cast<double>(count - 1); }
};

// Maurer and Pontil, Theorem 4: the width on one side, given ln(2/a).
double BernsteinWidth(double variance, double range, Count count, double log_two_by_level) {
  const auto n = static_cast<double>(count);
  return std::sqrt(2 * variance * log_two_by_level / n) + 7 * range * log_two_by_level / (3 * (n - 1));
}

double TwoSidedQuantile(double level) {  // two-sided
  return std::numbers::sqrt2 * boost::math::erfc_inv(level);
}

Interval Around(double value, double width, Interval bounds) {
  return {std::clamp(value - width, bounds.low, bounds.high),
          std::clamp(value + width, bounds.low, bounds.high)};
}

// Computes the estimate from independent samples of one mean. `range` is the length of the interval of their
// values; nothing if it is not known.
void Conclude(std::span<const Sample> samples, std::optional<double> range, const OffPolicyOptions& options,
              ValueEstimate& estimate) {
  double total = 0;
  for (const Sample& sample : samples) total += static_cast<double>(sample.count);
  double variance = 0;
  double width = 0;
  const double level = options.level / static_cast<double>(samples.size());
  for (const Sample& sample : samples) {
    const double share = static_cast<double>(sample.count) / total;
    estimate.value += share * sample.mean;
    variance += share * share * sample.variance() / static_cast<double>(sample.count);
    if (range.has_value()) {
      width += share * BernsteinWidth(sample.variance(), *range, sample.count, std::log(4 / level));
    }
  }
  estimate.standard_error = std::sqrt(variance);
  estimate.normal =
      Around(estimate.value, TwoSidedQuantile(options.level) * estimate.standard_error, options.rewards);
  if (range.has_value()) estimate.bernstein = Around(estimate.value, width, options.rewards);
}

absl::StatusOr<double> ModelValue(const RewardEstimate& model, const ContextView& context, ArmId action,
                                  Count round, Interval rewards) {
  const double value = model(context, action);
  if (value >= rewards.low && value <= rewards.high) return value;
  return InvalidInput(
      {.message = fmt::format("the reward model returns this value for action {} in round {}", action, round),
       .key = "model",
       .value = fmt::format("{}", value),
       .accepted =
           fmt::format("a number in [{}, {}], the interval off_policy.rewards", rewards.low, rewards.high)});
}

enum class ModelUse { kDirect, kDoublyRobust };

// models[t % models.size()] evaluates round t.
absl::StatusOr<ValueEstimate> ByModels(const LoggedData& log, const StochasticPolicy& policy,
                                       std::span<const RewardEstimate> models, ModelUse use,
                                       const OffPolicyOptions& options) {
  std::vector<Sample> samples(models.size());
  BANDANA_ASSIGN_OR_RETURN(
      ValueEstimate estimate,
      ForRounds(log, policy, options,
                [&](Count t, const Vector& probabilities, double weight) -> absl::Status {
                  const std::size_t fold = static_cast<std::size_t>(t) % models.size();
                  const ContextView context = log.context(t);
                  double term = 0;
                  for (ArmId a = 0; a < log.num_actions(); ++a) {
                    const bool corrected = use == ModelUse::kDoublyRobust && a == log.action(t);
                    if (probabilities[a] == 0) continue;  // the weight is then 0, too
                    BANDANA_ASSIGN_OR_RETURN(const double value,
                                             ModelValue(models[fold], context, a, t, options.rewards));
                    term += probabilities[a] * value;
                    if (corrected) term += weight * (log.reward(t) - value);
                  }
                  samples[fold].Add(term);
                  return absl::OkStatus();
                }));
  std::optional<double> range;
  if (use == ModelUse::kDirect) {
    range = Length(options.rewards);
  } else if (options.weight_bound.has_value()) {
    range = Length(options.rewards) * (1 + 2 * *options.weight_bound);
  }
  Conclude(samples, range, options, estimate);
  return estimate;
}

absl::StatusOr<ValueEstimate> CrossFitted(const LoggedData& log, const StochasticPolicy& policy,
                                          double penalty, ModelUse use, const OffPolicyOptions& options) {
  BANDANA_RETURN_IF_ERROR(CheckOptions(log, options, 4));
  std::array<std::vector<Count>, 2> folds;
  for (Count t = 0; t < log.rounds(); ++t) folds[static_cast<std::size_t>(t) % 2].push_back(t);
  std::array<RewardEstimate, 2> models;
  for (std::size_t fold = 0; fold < 2; ++fold) {
    BANDANA_ASSIGN_OR_RETURN(models[fold], RidgeRewards::Fit(log, folds[1 - fold], penalty, options.rewards));
  }
  return ByModels(log, policy, models, use, options);
}

// Computes the ends of {v: |mean of w (r - v)| <= width of w (r - v)} in the interval of rewards, from the
// moments of (w r, w).
class RatioBounds {
 public:
  RatioBounds(const std::vector<double>& weighted, const std::vector<double>& weights, double range,
              double level)
      : count_(static_cast<Count>(weights.size())), range_(range), log_(std::log(4 / level)) {
    const auto n = static_cast<double>(count_);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      mean_weighted_ += weighted[i] / n;
      mean_weight_ += weights[i] / n;
    }
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double y = weighted[i] - mean_weighted_;
      const double w = weights[i] - mean_weight_;
      yy_ += y * y / (n - 1);
      yw_ += y * w / (n - 1);
      ww_ += w * w / (n - 1);
    }
  }

  // Returns the end of the set between `inside`, which belongs to it, and `end`. The excess is how far the
  // mean is from 0 beyond the width. The width is a convex function of v, so the excess is concave between
  // `inside`, where it is < 0, and `end`. If it is positive at `end`, it has one zero between.
  double Bound(double inside, double end) const {
    if (Excess(end) <= 0) return end;
    double in = inside;
    double out = end;
    for (int i = 0; i < 200 && in != out; ++i) {
      const double middle = in + (out - in) / 2;
      if (middle == in || middle == out) break;
      (Excess(middle) <= 0 ? in : out) = middle;
    }
    return out;
  }

 private:
  double Excess(double v) const {
    const double variance = std::max(0.0, yy_ - 2 * v * yw_ + v * v * ww_);
    return std::abs(mean_weighted_ - v * mean_weight_) - BernsteinWidth(variance, range_, count_, log_);
  }

  Count count_;
  double range_;
  double log_;
  double mean_weighted_ = 0, mean_weight_ = 0;
  double yy_ = 0, yw_ = 0, ww_ = 0;
};

}  // namespace

absl::StatusOr<ValueEstimate> InversePropensity(const LoggedData& log, const StochasticPolicy& policy,
                                                const OffPolicyOptions& options) {
  BANDANA_RETURN_IF_ERROR(CheckOptions(log, options, 2));
  Sample sample;
  BANDANA_ASSIGN_OR_RETURN(ValueEstimate estimate,
                           ForRounds(log, policy, options, [&](Count t, const Vector&, double weight) {
                             sample.Add(weight * log.reward(t));
                             return absl::OkStatus();
                           }));
  std::optional<double> range;
  if (options.weight_bound.has_value()) {
    range =
        *options.weight_bound * (std::max(options.rewards.high, 0.0) - std::min(options.rewards.low, 0.0));
  }
  Conclude(std::span(&sample, 1), range, options, estimate);
  return estimate;
}

absl::StatusOr<ValueEstimate> SelfNormalised(const LoggedData& log, const StochasticPolicy& policy,
                                             const OffPolicyOptions& options) {
  BANDANA_RETURN_IF_ERROR(CheckOptions(log, options, 2));
  std::vector<double> weighted, weights;
  double sum = 0, sum_weighted = 0;
  BANDANA_ASSIGN_OR_RETURN(ValueEstimate estimate,
                           ForRounds(log, policy, options, [&](Count t, const Vector&, double weight) {
                             weights.push_back(weight);
                             weighted.push_back(weight * log.reward(t));
                             sum += weight;
                             sum_weighted += weighted.back();
                             return absl::OkStatus();
                           }));
  if (!(sum > 0)) {
    return InvalidInput({.message = "no round of the log has an action that the policy plays",
                         .key = "policy",
                         .accepted = "a policy that plays some of the actions in the log"});
  }
  // Against rounding.
  estimate.value = std::clamp(sum_weighted / sum, options.rewards.low, options.rewards.high);
  double squares = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double residual = weighted[i] - weights[i] * estimate.value;
    squares += residual * residual;
  }
  estimate.standard_error = std::sqrt(squares) / sum;
  estimate.normal =
      Around(estimate.value, TwoSidedQuantile(options.level) * estimate.standard_error, options.rewards);
  if (options.weight_bound.has_value()) {
    const RatioBounds bounds(weighted, weights, *options.weight_bound * Length(options.rewards),
                             options.level);
    estimate.bernstein = {bounds.Bound(estimate.value, options.rewards.low),
                          bounds.Bound(estimate.value, options.rewards.high)};
  }
  return estimate;
}

absl::StatusOr<ValueEstimate> DirectMethod(const LoggedData& log, const StochasticPolicy& policy,
                                           const RewardEstimate& model, const OffPolicyOptions& options) {
  BANDANA_RETURN_IF_ERROR(CheckOptions(log, options, 2));
  return ByModels(log, policy, std::span(&model, 1), ModelUse::kDirect, options);
}

absl::StatusOr<ValueEstimate> DoublyRobust(const LoggedData& log, const StochasticPolicy& policy,
                                           const RewardEstimate& model, const OffPolicyOptions& options) {
  BANDANA_RETURN_IF_ERROR(CheckOptions(log, options, 2));
  return ByModels(log, policy, std::span(&model, 1), ModelUse::kDoublyRobust, options);
}

absl::StatusOr<RidgeRewards> RidgeRewards::Fit(const LoggedData& log, std::span<const Count> rounds,
                                               double penalty, Interval rewards) {
  if (!(penalty > 0 && std::isfinite(penalty))) {
    return InvalidOption("penalty", penalty, "a finite number > 0");
  }
  BANDANA_CHECK(!rounds.empty());
  const Eigen::Index size = log.dimension() + 1;
  const auto actions = static_cast<std::size_t>(log.num_actions());
  std::vector<std::vector<Count>> by_action(actions);
  double mean = 0;
  for (const Count t : rounds) {
    by_action[static_cast<std::size_t>(log.action(t))].push_back(t);
    mean += log.reward(t) / static_cast<double>(rounds.size());
  }
  RidgeRewards model;
  model.rewards_ = rewards;
  model.coefficients_.setZero(log.num_actions(), size);
  model.coefficients_.col(0).setConstant(mean);
  Vector row(size);
  for (std::size_t a = 0; a < actions; ++a) {
    if (by_action[a].empty()) continue;
    Matrix gram = Matrix::Zero(size, size);
    Vector moments = Vector::Zero(size);
    gram.diagonal().tail(size - 1).setConstant(penalty);
    for (const Count t : by_action[a]) {
      row[0] = 1;
      row.tail(size - 1) = log.context(t);
      gram.selfadjointView<Eigen::Lower>().rankUpdate(row);
      moments += log.reward(t) * row;
    }
    const Vector solution = gram.selfadjointView<Eigen::Lower>().ldlt().solve(moments);
    if (solution.allFinite()) model.coefficients_.row(static_cast<Eigen::Index>(a)) = solution;
  }
  return model;
}

double RidgeRewards::operator()(const ContextView& context, ArmId action) const {
  const auto row = coefficients_.row(action);
  return std::clamp(row[0] + row.tail(context.size()).dot(context), rewards_.low, rewards_.high);
}

absl::StatusOr<ValueEstimate> CrossFittedDoublyRobust(const LoggedData& log, const StochasticPolicy& policy,
                                                      double penalty, const OffPolicyOptions& options) {
  return CrossFitted(log, policy, penalty, ModelUse::kDoublyRobust, options);
}

absl::StatusOr<ValueEstimate> CrossFittedDirectMethod(const LoggedData& log, const StochasticPolicy& policy,
                                                      double penalty, const OffPolicyOptions& options) {
  return CrossFitted(log, policy, penalty, ModelUse::kDirect, options);
}

}  // namespace bandana
