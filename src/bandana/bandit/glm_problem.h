#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "bandana/bandit/mean_function.h"
#include "bandana/bandit/reward_model.h"
#include "bandana/core/distributions.h"
#include "bandana/core/generators.h"
#include "bandana/core/ids.h"
#include "bandana/core/linear_algebra.h"

namespace bandana {

enum class ParameterKind {
  kSingle,  ///< one theta; every round has a context x_a for each arm: mean mu(<x_a, theta>)
  kMulti,   ///< a theta_a for each arm; every round has one context x: mean mu(<x, theta_a>)
};

/// What contexts of a round are; with kSingle those of its arms are independent unless said otherwise.
enum class UserContexts {
  kSphere,    ///< uniform on the unit sphere
  kGaussian,  ///< N(0, I/d), not pulled back into the unit ball: the hard instance of P5, Theorem 3.2
  /// Two arms with a margin of exponent beta (P5, Assumption 4): with t = theta*/|theta*|,
  ///   x_1 = -x_2 = (s g t + kMarginAcross w) / 2,  P(g <= h) = (h / kMarginGap)^beta for h in [0,
  ///   kMarginGap],
  /// s = +-1 a fair sign and w uniform on the unit vectors across theta*. |x| <= 1, and the gap of the means
  /// is g |theta*|.
  kMargin,
};

/// Half of |x_1 - x_2|^2 <= 4 each, so that theta* and what is across it are seen at about the same rate.
inline constexpr double kMarginGap = 1.4142135623730950;
inline constexpr double kMarginAcross = 1.4142135623730950;

struct GlmProblemParams {
  Count dimension = 0;  ///< d >= 1; 2 with kMargin
  Count arms = 0;       ///< K >= 2; just 2 with kMargin
  ParameterKind parameters = ParameterKind::kSingle;
  MeanFunction mean;
  UserContexts contexts = UserContexts::kSphere;
  double margin = 0;      ///< beta, with kMargin alone: in [0.01, 100]
  double theta_norm = 1;  ///< of every theta; in (0, 100]
  /// With the identity: gaussian of sd >= 0, or rademacher or uniform where means are certain to be in
  /// [-1, 1]. logistic and probit: bernoulli. poisson has a law of its own: kind and sd are not looked at.
  RewardModel reward;
};

/// A generalized linear bandit with a new user in every round (P5: Y. Han, Z. Liang, Y. Wang, J. Zhang,
/// "Generalized Linear Bandits with Local Differential Privacy", NeurIPS 2021). Rounds of it: user_rounds.h.
class GlmProblem {
 public:
  /// Thetas uniform on the sphere of radius theta_norm: the instance of a replicate, the same for everything
  /// that is compared on it.
  static absl::StatusOr<GlmProblem> Draw(const GlmProblemParams& params, std::uint64_t seed,
                                         std::uint32_t replicate);

  /// One theta a row: one of them, or K. Their norms are at most params.theta_norm, and not all 0.
  static absl::StatusOr<GlmProblem> Create(const GlmProblemParams& params, ActionMatrix thetas);

  const GlmProblemParams& params() const { return params_; }
  Count dimension() const { return params_.dimension; }
  Count arms() const { return params_.arms; }
  bool multi() const { return params_.parameters == ParameterKind::kMulti; }
  const MeanFunction& mean() const { return params_.mean; }
  const ActionMatrix& thetas() const { return thetas_; }  ///< 1 x d or K x d

  /// Where rewards are for certain: nothing for Gaussian noise or contexts without a bound.
  std::optional<Interval> support() const;

  /// Contexts' norms are at most 1 (all but kGaussian).
  bool bounded_contexts() const { return params_.contexts != UserContexts::kGaussian; }

  /// A reward of mean mu(predictor).
  double DrawReward(double predictor, CoinGen& coin) const {
    switch (params_.mean.link()) {
      case Link::kLogistic:
      case Link::kProbit:
        return UniformUnit(coin) < params_.mean(predictor) ? 1 : 0;
      case Link::kPoisson:
        return DrawCount(predictor, coin);
      case Link::kIdentity:
        break;
    }
    if (params_.reward.kind == RewardKind::kGaussian) {
      return params_.reward.sd == 0 ? predictor : predictor + params_.reward.sd * StandardNormal(coin);
    }
    return params_.reward.Draw(predictor, coin);
  }

 private:
  GlmProblem(const GlmProblemParams& params, ActionMatrix thetas);
  double DrawCount(double predictor, CoinGen& coin) const;

  GlmProblemParams params_;
  ActionMatrix thetas_;
};

}  // namespace bandana
