#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/bandit/logged_data.h"
#include "bandana/core/reward.h"

/// Estimates the value of a fixed policy pi from a log of another policy. The value is the expected reward
/// per round, V = E sum_a pi(a | x) E(r | x, a).
///   w_t = pi(a_t | x_t) / pscore_t     the weight of round t
///
/// M. Dudík, D. Erhan, J. Langford, L. Li, "Doubly Robust Policy Evaluation and Optimization", Statistical
/// Science 29(4), 2014. Rounds are assumed to be independent, and pscores to be the true probabilities of the
/// logging policy. The evaluated policy must not have been learned from the same log.
namespace bandana {

/// Writes pi(. | x), which is K probabilities.
using StochasticPolicy = std::function<void(const ContextView& context, Eigen::Ref<Vector> probabilities)>;

/// Returns an estimate of E(r | x, a), within the interval of rewards.
using RewardEstimate = std::function<double(const ContextView& context, ArmId action)>;

struct OffPolicyOptions {
  Interval rewards;  ///< an interval that certainly contains all rewards; low < high
  double level = 0;  ///< the probability that an interval misses V, in (0, 1): 0.05
  /// An upper bound on pi(a | x) / p(a | x) wherever p(a | x) > 0. It must hold for certain, not just in the
  /// log. 1 / c is sufficient if the logging policy never has a probability below c. Without it there are no
  /// Bernstein intervals.
  std::optional<double> weight_bound;
};

struct ValueEstimate {
  double value = 0;  ///< not clipped
  double standard_error = 0;
  /// value -+ z standard_error, correct for many rounds. This interval and the next are cut to the interval
  /// of rewards.
  Interval normal;
  /// A two-sided interval by A. Maurer, M. Pontil, "Empirical Bernstein Bounds and Sample Variance
  /// Penalization", COLT 2009, Theorem 4. It is correct for any number of rounds. For n variables with sample
  /// variance v in an interval of length R, the error of the mean is below
  ///   sqrt(2 v ln(2/a) / n) + 7 R ln(2/a) / (3 (n - 1))
  ///
  /// on one side with probability 1 - a; here a = level / 2.
  std::optional<Interval> bernstein;
  double effective_sample_size = 0;  ///< (sum w)^2 / sum w^2 (Kish); 0 if no weight is positive
  double largest_weight = 0;
};

/// Inverse propensity scoring: the mean of w r. Unbiased.
absl::StatusOr<ValueEstimate> InversePropensity(const LoggedData& log, const StochasticPolicy& policy,
                                                const OffPolicyOptions& options);

/// Self-normalised: sum w r / sum w, cut to the interval of rewards. Its bias is O(1/n). Fails if every
/// weight is 0. The standard error is by the delta method. The mean of w (r - v) has expectation 0 for v = V;
/// the Bernstein interval holds all v for which that mean is within Maurer and Pontil's bound of 0. So it
/// neglects no bias.
absl::StatusOr<ValueEstimate> SelfNormalised(const LoggedData& log, const StochasticPolicy& policy,
                                             const OffPolicyOptions& options);

/// The direct method: the mean of sum_a pi(a | x) q(x, a), where q is the model. Its intervals are for the
/// value that the model predicts; they do not cover the model's bias.
absl::StatusOr<ValueEstimate> DirectMethod(const LoggedData& log, const StochasticPolicy& policy,
                                           const RewardEstimate& model, const OffPolicyOptions& options);

/// The mean of sum_a pi(a | x) q(x, a) + w (r - q(x, a_t)). Unbiased for every model that was not fitted on
/// this log. A better model gives a smaller variance.
absl::StatusOr<ValueEstimate> DoublyRobust(const LoggedData& log, const StochasticPolicy& policy,
                                           const RewardEstimate& model, const OffPolicyOptions& options);

/// A ridge regression of rewards on (1, x) for each action. The constant is not penalised, and predictions
/// are cut to the interval of rewards. An action that was never played gets the mean reward of all rounds.
class RidgeRewards {
 public:
  /// Minimises sum (r - b - <w, x>)^2 + penalty |w|^2 over the given rounds, at least one; penalty > 0.
  static absl::StatusOr<RidgeRewards> Fit(const LoggedData& log, std::span<const Count> rounds,
                                          double penalty, Interval rewards);

  double operator()(const ContextView& context, ArmId action) const;

 private:
  RidgeRewards() = default;
  ActionMatrix coefficients_;  // one row per action: the constant, then the slopes
  Interval rewards_;
};

/// DoublyRobust with RidgeRewards, cross-fitted: a model fitted on the odd-numbered rounds evaluates the
/// even-numbered ones, and the reverse (V. Chernozhukov et al., "Double/debiased machine learning for
/// treatment and structural parameters", Econometrics J. 21, 2018). Unbiased, because no round is evaluated
/// by a model that was fitted on it. The Bernstein bound is computed for each half, given the other, at half
/// the level. Needs at least four rounds.
absl::StatusOr<ValueEstimate> CrossFittedDoublyRobust(const LoggedData& log, const StochasticPolicy& policy,
                                                      double penalty, const OffPolicyOptions& options);

/// DirectMethod with the two models of CrossFittedDoublyRobust, without the correction by weights.
absl::StatusOr<ValueEstimate> CrossFittedDirectMethod(const LoggedData& log, const StochasticPolicy& policy,
                                                      double penalty, const OffPolicyOptions& options);

}  // namespace bandana
