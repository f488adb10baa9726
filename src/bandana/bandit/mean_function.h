#pragma once

#include <cmath>

#include "absl/status/statusor.h"
#include "bandana/bandit/link.h"
#include "bandana/core/ids.h"
#include "bandana/core/reward.h"

namespace bandana {

/// mu of a generalized linear bandit: mean reward = mu(<theta, x>), increasing, at a few nanoseconds a call.
///   identity, logistic, probit   as in link.h
///   poisson                      rewards are min(N, B), N Poisson of mean l = exp(s), and
///                                mu(s) = E min(N, B) = l P(N <= B - 2) + B P(N >= B),
///                                mu'(s) = l P(N <= B - 1)
/// so that the bound is part of the law, and clipping to it biases nothing.
class MeanFunction {
 public:
  static constexpr Count kMostBound = 100;

  MeanFunction() = default;  ///< the identity
  /// A link without a parameter.
  explicit MeanFunction(Link link);

  /// Any link; `bound` is B, from 1 to kMostBound with kPoisson, and must be 0 otherwise. An error names
  /// environment.reward_bound.
  static absl::StatusOr<MeanFunction> Create(Link link, Count bound);

  Link link() const { return link_; }
  Count bound() const { return bound_; }  ///< B, or 0

  double operator()(double predictor) const {
    if (link_ == Link::kIdentity) return predictor;
    if (link_ == Link::kLogistic) return 1 / (1 + std::exp(-predictor));
    return link_ == Link::kProbit ? Probit(predictor) : Poisson(predictor);
  }

  /// mu'(predictor) > 0.
  double Slope(double predictor) const;

  /// zeta: the smallest slope over [-radius, radius]. Slopes are quasi-concave (for poisson, ln mu' is
  /// concave: s is linear, and (ln P(N <= B - 1))' = -l E with Erlang's loss E, which increases with l), so
  /// it is at an end. radius >= 0.
  double SmallestSlope(double radius) const;

  /// Means for predictors in [-radius, radius].
  Interval Range(double radius) const { return {(*this)(-radius), (*this)(radius)}; }

  bool operator==(const MeanFunction&) const = default;

 private:
  static double Probit(double predictor);
  double Poisson(double predictor) const;

  Link link_ = Link::kIdentity;
  int bound_ = 0;
};

}  // namespace bandana
