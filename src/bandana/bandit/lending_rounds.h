#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bandana/bandit/auto_lending.h"
#include "bandana/bandit/user_rounds.h"
#include "bandana/core/bit_source.h"
#include "bandana/core/generators.h"
#include "bandana/core/linear_algebra.h"

namespace bandana {

/// Applicants of an AutoLendingProblem as a world with one user a round (P5, Appendix G): loans are drawn
/// from the problem's, with replacement, arms are prices, and theta, fitted to the log, is the truth. With
/// LendingReward::kAcceptance it is a generalized linear bandit with one parameter and the logistic link;
/// with kRevenue the mean is the price's share times that, and a learner of acceptance does not see it.
class LendingRounds {
 public:
  static constexpr bool kFull = true;

  LendingRounds(std::shared_ptr<const AutoLendingProblem> problem, std::uint64_t seed,
                std::uint32_t replicate);

  static constexpr Count dimension() { return AutoLendingScale::kDimension; }
  Count arms() const { return problem_->actions(); }
  static constexpr bool multi() { return false; }
  const AutoLendingProblem& problem() const { return *problem_; }

  /// |theta|: the radius of the ball in which a learner must look for it. About 12 on the twin, where P5
  /// assumes 1. It comes out of the log: a claim of privacy takes it, like the features' scale, for public.
  double theta_radius() const { return problem_->theta().norm(); }

  bool Next();
  const ActionMatrix& Contexts();
  void Scores(std::span<const double> theta, std::span<double> scores) const;
  std::span<const double> Context(ArmId arm);
  std::optional<double> Reward(ArmId arm);
  double Gap(ArmId arm) const;

 private:
  static constexpr Eigen::Index kHalf = AutoLendingScale::kDimension / 2;

  /// A predictor is linear in the price p: at + slope p / scale.price.
  struct Line {
    double at;
    double slope;
  };
  Line LineOf(const double* theta) const;
  double Acceptance(ArmId arm) const;
  void WriteContext(ArmId arm, double* to) const;

  std::shared_ptr<const AutoLendingProblem> problem_;
  PhiloxSource context_bits_;
  CoinGen context_coin_;
  PhiloxSource reward_bits_;
  CoinGen reward_coin_;
  std::vector<double> shares_;  // price / scale.price, an arm each
  ActionMatrix loans_;          // the loans' features without a price, a row each
  const double* loan_ = nullptr;
  Line truth_ = {0, 0};
  std::array<double, AutoLendingScale::kDimension> context_;
  ActionMatrix contexts_;
  bool written_ = false;  // contexts_ are of this round
  ArmId played_ = -1;
  double reward_ = 0;
};

static_assert(UserWorld<LendingRounds>);

}  // namespace bandana
