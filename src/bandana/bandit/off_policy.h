#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/bandit/logged_data.h"
#include "bandana/core/reward.h"

/// What a fixed policy pi would earn a round, V = E sum_a pi(a | x) E(r | x, a), from a log of another
/// policy.
///   w_t = pi(a_t | x_t) / pscore_t     the weight of a round
/// M. Dudík, D. Erhan, J. Langford, L. Li, "Doubly Robust Policy Evaluation and Optimization", Statistical
/// Science 29(4), 2014. Rounds are taken to be independent, and pscores to be the probabilities that the
/// logging policy had. A policy must not have been learned from the log that evaluates it.
namespace bandana {

/// Writes pi(. | x), K probabilities.
using StochasticPolicy = std::function<void(const ContextView& context, Eigen::Ref<Vector> probabilities)>;

/// An estimate of E(r | x, a), within the interval of rewards.
using RewardEstimate = std::function<double(const ContextView& context, ArmId action)>;

struct OffPolicyOptions {
  Interval rewards;  ///< where rewards are, for certain; low < high
  double level = 0;  ///< an interval misses V with this probability, in (0, 1): 0.05
  /// An upper bound on pi(a | x) / p(a | x) wherever p(a | x) > 0: for certain, not just in the log. 1 / c
  /// will do if the logging policy never has a probability below c. Without it there are no Bernstein
  /// intervals.
  std::optional<double> weight_bound;
};

struct ValueEstimate {
  double value = 0;  ///< not clipped
  double standard_error = 0;
  /// value -+ z standard_error: right for many rounds. It and the next are cut to where rewards are.
  Interval normal;
  /// By A. Maurer, M. Pontil, "Empirical Bernstein Bounds and Sample Variance Penalization", COLT 2009,
  /// Theorem 4, on both sides: right for any number of rounds. For n variables of sample variance v in an
  /// interval of length R, the mean is off by less than
  ///   sqrt(2 v ln(2/a) / n) + 7 R ln(2/a) / (3 (n - 1))
  /// on one side with probability 1 - a; here a = level / 2.
  std::optional<Interval> bernstein;
  double effective_sample_size = 0;  ///< (sum w)^2 / sum w^2 (Kish); 0 if no weight is positive
  double largest_weight = 0;
};

/// Inverse propensity scoring: the mean of w r. Unbiased.
absl::StatusOr<ValueEstimate> InversePropensity(const LoggedData& log, const StochasticPolicy& policy,
                                                const OffPolicyOptions& options);

/// Self-normalised: sum w r / sum w, within the rewards' interval, biased by O(1/n). An error if every weight
/// is 0. Standard error by the delta method. Its Bernstein interval is that of all v for which the mean of
/// w (r - v), which is 0 for v = V, is within Maurer and Pontil's bound of 0: no bias is neglected.
absl::StatusOr<ValueEstimate> SelfNormalised(const LoggedData& log, const StochasticPolicy& policy,
                                             const OffPolicyOptions& options);

/// The mean of sum_a pi(a | x) q(x, a), q the model: its intervals are for the model's idea of V, and know
/// nothing of the model's bias.
absl::StatusOr<ValueEstimate> DirectMethod(const LoggedData& log, const StochasticPolicy& policy,
                                           const RewardEstimate& model, const OffPolicyOptions& options);

/// The mean of sum_a pi(a | x) q(x, a) + w (r - q(x, a_t)). Unbiased for every model that was not fitted on
/// this log; the better the model, the less it varies.
absl::StatusOr<ValueEstimate> DoublyRobust(const LoggedData& log, const StochasticPolicy& policy,
                                           const RewardEstimate& model, const OffPolicyOptions& options);

/// For each action a ridge regression of rewards on (1, x), the constant not shrunk, cut to the rewards'
/// interval. An action that was never played is given the mean reward of all.
class RidgeRewards {
 public:
  /// Minimises sum (r - b - <w, x>)^2 + penalty |w|^2 over the rounds given, at least one; penalty > 0.
  static absl::StatusOr<RidgeRewards> Fit(const LoggedData& log, std::span<const Count> rounds,
                                          double penalty, Interval rewards);

  double operator()(const ContextView& context, ArmId action) const;

 private:
  RidgeRewards() = default;
  ActionMatrix coefficients_;  // a row an action: the constant, then the slopes
  Interval rewards_;
};

/// DoublyRobust with RidgeRewards, cross-fitted: rounds of even number are judged by a model fitted on those
/// of odd number, and the other way round (V. Chernozhukov et al., "Double/debiased machine learning for
/// treatment and structural parameters", Econometrics J. 21, 2018). Unbiased: no round meets a model that has
/// seen it. The Bernstein bound is that of each half, given the other, at half the level. Four rounds at
/// least.
absl::StatusOr<ValueEstimate> CrossFittedDoublyRobust(const LoggedData& log, const StochasticPolicy& policy,
                                                      double penalty, const OffPolicyOptions& options);

/// The model's part of the same alone: DirectMethod with the two models swapped.
absl::StatusOr<ValueEstimate> CrossFittedDirectMethod(const LoggedData& log, const StochasticPolicy& policy,
                                                      double penalty, const OffPolicyOptions& options);

}  // namespace bandana
