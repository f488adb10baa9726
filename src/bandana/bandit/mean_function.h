#pragma once

#include <cmath>

#include "absl/status/statusor.h"
#include "bandana/bandit/link.h"
#include "bandana/core/ids.h"
#include "bandana/core/reward.h"

namespace bandana {

/// The link mu of a generalized linear bandit: mean reward = mu(<theta, x>), increasing. A call takes a few
/// nanoseconds.
///   identity, logistic, probit   as in link.h
///   poisson                      rewards are min(N, B), N Poisson of mean l = exp(s), and
///                                mu(s) = E min(N, B) = l P(N <= B - 2) + B P(N >= B),
///                                mu'(s) = l P(N <= B - 1)
///
/// For poisson the bound B is part of the reward's distribution, so clipping to it causes no bias.
class MeanFunction {
 public:
  static constexpr Count kMostBound = 100;

  MeanFunction() = default;  ///< the identity
  /// Takes a link without a parameter.
  explicit MeanFunction(Link link);

  /// Takes any link. `bound` is B: from 1 to kMostBound with kPoisson, and 0 otherwise. An error names
  /// `reward_bound`.
  static absl::StatusOr<MeanFunction> Create(Link link, Count bound);

  Link link() const { return link_; }
  Count bound() const { return bound_; }  ///< B, or 0

  double operator()(double predictor) const {
    if (link_ == Link::kIdentity) return predictor;
    if (link_ == Link::kLogistic) return 1 / (1 + std::exp(-predictor));
    return link_ == Link::kProbit ? Probit(predictor) : Poisson(predictor);
  }

  /// Returns mu'(predictor) > 0.
  double Slope(double predictor) const;

  /// Returns zeta, the smallest slope over [-radius, radius]; radius >= 0. Slopes are quasi-concave, so the
  /// smallest is at an end. (For poisson, ln mu' is concave: s is linear, and (ln P(N <= B - 1))' = -l E with
  /// Erlang's loss E, which increases with l.)
  double SmallestSlope(double radius) const;

  /// Returns the interval of the means for predictors in [-radius, radius].
  Interval Range(double radius) const { return {(*this)(-radius), (*this)(radius)}; }

  bool operator==(const MeanFunction&) const = default;

 private:
  static double Probit(double predictor);
  double Poisson(double predictor) const;

  Link link_ = Link::kIdentity;
  int bound_ = 0;
};

}  // namespace bandana
