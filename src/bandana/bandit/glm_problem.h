#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "bandana/bandit/mean_function.h"
#include "bandana/bandit/reward_model.h"
#include "bandana/core/distributions.h"
#include "bandana/core/generators.h"
#include "bandana/core/ids.h"
#include "bandana/core/linear_algebra.h"

namespace bandana {

enum class ParameterKind {
  /// One theta. Every round has a context x_a for each arm; the mean is mu(<x_a, theta>).
  kSingle,
  /// One theta_a for each arm. Every round has one context x; the mean is mu(<x, theta_a>).
  kMulti,
};

/// The distribution of the contexts of a round. With kSingle, the contexts of the arms are independent,
/// except in kMargin.
enum class UserContexts {
  kSphere,  ///< uniform on the unit sphere
  /// N(0, I/d), not projected into the unit ball: the hard instance of P5, Theorem 3.2.
  kGaussian,
  /// Two arms with a margin of exponent beta (P5, Assumption 4). With t = theta*/|theta*|,
  ///   x_1 = -x_2 = (s g t + kMarginAcross w) / 2,
  ///   P(g <= h) = (h / kMarginGap)^beta for h in [0, kMarginGap],
  ///
  /// where s = +-1 is a fair sign and w is uniform on the unit vectors orthogonal to theta*. |x| <= 1, and
  /// the gap of the means is g |theta*|.
  ///
  /// With several thetas (Assumptions 5 and 6) there are K >= 2 arms in d >= 3 dimensions. With v a uniform
  /// unit vector without the first entry and e the first axis,
  ///   theta_1 = -theta_2 = |theta| v,  theta_3 = ... = theta_K = -|theta| e,
  ///   x = (e + s g v + sqrt(1 - g^2) w) / sqrt2,  P(g <= h) = h^beta for h in [0, 1],
  ///
  /// where w is uniform on the unit vectors orthogonal to e and v. The gap of the first two arms is
  /// sqrt2 g |theta|. The others are surely inferior: they are worse than the best by |theta| / sqrt2 at
  /// least, whatever x is.
  kMargin,
};

/// |x_1 - x_2|^2 <= 4. Each of the two constants has half of it, so theta* and the directions orthogonal to
/// it are observed at about the same rate.
inline constexpr double kMarginGap = 1.4142135623730950;
inline constexpr double kMarginAcross = 1.4142135623730950;

struct GlmProblemParams {
  Count dimension = 0;  ///< d >= 1; with kMargin >= 2, and >= 3 if there are several thetas
  Count arms = 0;       ///< K >= 2; exactly 2 with kMargin and one theta
  ParameterKind parameters = ParameterKind::kSingle;
  MeanFunction mean;
  UserContexts contexts = UserContexts::kSphere;
  double margin = 0;      ///< beta, only with kMargin: in [0.01, 100]
  double theta_norm = 1;  ///< the norm of every theta; in (0, 100]
  /// The identity link takes gaussian with sd >= 0, or rademacher or uniform if all means are certainly in
  /// [-1, 1]. logistic and probit take bernoulli. poisson has its own law and ignores kind and sd.
  RewardModel reward;
};

/// A generalized linear bandit with a new user in every round (P5: Y. Han, Z. Liang, Y. Wang, J. Zhang,
/// "Generalized Linear Bandits with Local Differential Privacy", NeurIPS 2021). user_rounds.h plays its
/// rounds.
class GlmProblem {
 public:
  /// Draws thetas uniformly on the sphere of radius theta_norm; kMargin with several thetas has its own law.
  /// The instance depends on the seed and the replicate, so all learners that are compared meet the same one.
  static absl::StatusOr<GlmProblem> Draw(const GlmProblemParams& params, std::uint64_t seed,
                                         std::uint32_t replicate);

  /// Takes one theta per row: 1 or K rows. Their norms are at most params.theta_norm, and not all 0.
  static absl::StatusOr<GlmProblem> Create(const GlmProblemParams& params, ActionMatrix thetas);

  const GlmProblemParams& params() const { return params_; }
  Count dimension() const { return params_.dimension; }
  Count arms() const { return params_.arms; }
  bool multi() const { return params_.parameters == ParameterKind::kMulti; }
  const MeanFunction& mean() const { return params_.mean; }
  const ActionMatrix& thetas() const { return thetas_; }  ///< 1 x d or K x d

  /// Returns the interval that certainly contains all rewards. Returns nothing for Gaussian noise or
  /// unbounded contexts.
  std::optional<Interval> support() const;

  /// Returns whether contexts' norms are at most 1 (true for all but kGaussian).
  bool bounded_contexts() const { return params_.contexts != UserContexts::kGaussian; }

  /// Returns the sum over all thetas of the distance from its estimate to the truth. NaN if there are not as
  /// many numbers as in all thetas.
  double EstimationError(std::span<const double> estimates) const;

  /// Draws a reward of mean mu(predictor).
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
