#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "bandana/bandit/auto_lending.h"
#include "bandana/bandit/policy_value.h"
#include "bandana/bandit/world.h"
#include "bandana/core/bit_source.h"
#include "bandana/core/generators.h"
#include "bandana/core/linear_algebra.h"

namespace bandana {

/// The applicants of an AutoLendingProblem as a world with one user per round (P5, Appendix G). Loans
/// are drawn from the problem's, with replacement; arms are prices; theta, fitted to the log, is the truth.
/// With LendingReward::kAcceptance this is a generalized linear bandit with one parameter and the logistic
/// link. With kRevenue the mean is that mean times the price's share, which a learner of acceptance does not
/// see.
class LendingRounds final : public UserWorld {
 public:
  LendingRounds(std::shared_ptr<const AutoLendingProblem> problem, std::uint64_t seed,
                std::uint32_t replicate, Facts facts = {});

  static constexpr Count dimension() { return AutoLendingScale::kDimension; }
  Count arms() const { return problem_->actions(); }
  static constexpr bool multi() { return false; }
  const AutoLendingProblem& problem() const { return *problem_; }

  /// Returns |theta|, the radius of the ball in which a learner must search for it. It is about 12 on the
  /// twin, where P5 assumes 1. It is computed from the log. A claim of privacy treats it, like the scale of
  /// the features, as public.

  const Facts& facts() const override { return facts_; }
  bool Next() override;
  const ActionMatrix& Contexts() override;
  void Scores(std::span<const double> theta, std::span<double> scores) override;
  std::span<const double> Context(ArmId arm) override;
  std::optional<double> Reward(ArmId arm) override;
  double Gap(ArmId arm) const override;

  /// Adds the mean reward so far: value, value_low, value_high, and offered and matched, which both count all
  /// rounds.
  absl::Status Measure(GreedyPolicy greedy, std::map<std::string, double>& series) override;

 private:
  static constexpr Eigen::Index kHalf = AutoLendingScale::kDimension / 2;

  /// A predictor, which is linear in the price p: at + slope p / scale.price.
  struct Line {
    double at;
    double slope;
  };
  Line LineOf(const double* theta) const;
  double Acceptance(ArmId arm) const;
  void WriteContext(ArmId arm, double* to) const;

  std::shared_ptr<const AutoLendingProblem> problem_;
  Facts facts_;
  PhiloxSource context_bits_;
  CoinGen context_coin_;
  PhiloxSource reward_bits_;
  CoinGen reward_coin_;
  std::vector<double> shares_;  // price / scale.price, one per arm
  ActionMatrix loans_;          // the loans' features without a price, one row per loan
  const double* loan_ = nullptr;
  Line truth_ = {0, 0};
  std::array<double, AutoLendingScale::kDimension> context_;
  ActionMatrix contexts_;
  bool written_ = false;  // whether contexts_ belong to this round
  ArmId played_ = -1;
  double reward_ = 0;
  EarnedRewards earned_;
};

}  // namespace bandana
