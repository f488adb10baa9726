#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bandana/bandit/glm_problem.h"
#include "bandana/bandit/world.h"
#include "bandana/core/bit_source.h"
#include "bandana/core/generators.h"
#include "bandana/core/ids.h"
#include "bandana/core/lane_draws.h"
#include "bandana/core/linear_algebra.h"

/// Worlds with a new user in every round that are drawn from a GlmProblem.
namespace bandana {
namespace internal {

/// Draws the reward of the arm that is played. Both worlds of a GlmProblem share it.
class GlmRewards {
 public:
  GlmRewards(const GlmProblem& problem, std::uint64_t seed, std::uint32_t replicate)
      : problem_(&problem),
        bits_({.seed = seed, .replicate = replicate, .stream = Stream::kReward}),
        coin_(bits_) {}

  void NewRound() { arm_ = -1; }

  /// Returns the reward of the arm, which is drawn once per round. `predictor` is the arm's <x, theta>.
  double Reward(ArmId arm, double predictor) {
    if (arm_ != arm) {
      arm_ = arm;
      reward_ = problem_->DrawReward(predictor, coin_);
    }
    return reward_;
  }

  /// Returns the best mean minus the mean of an arm, from the predictors of both.
  double Gap(double best, double predictor) const {
    if (!(best > predictor)) return 0;
    if (problem_->mean().link() == Link::kIdentity) return best - predictor;
    return std::max(0.0, problem_->mean()(best) - problem_->mean()(predictor));
  }

 private:
  const GlmProblem* problem_;
  PhiloxSource bits_;
  CoinGen coin_;
  ArmId arm_ = -1;
  double reward_ = 0;
};

}  // namespace internal

/// Rounds of a GlmProblem, with every context drawn in full. Contexts depend only on (seed, replicate) and
/// the round, so learners that are compared on a replicate meet the same users. Exact up to the rounding of
/// doubles. Unit vectors are short by a few units in the last place, so that no norm exceeds 1.
class DrawnRounds final : public UserWorld {
 public:
  DrawnRounds(std::shared_ptr<const GlmProblem> problem, std::uint64_t seed, std::uint32_t replicate,
              Facts facts = {});

  Count dimension() const { return problem_->dimension(); }
  Count arms() const { return problem_->arms(); }
  bool multi() const { return problem_->multi(); }
  const GlmProblem& problem() const { return *problem_; }

  const Facts& facts() const override { return facts_; }
  bool Next() override;
  const ActionMatrix& Contexts() override { return contexts_; }
  void Scores(std::span<const double> thetas, std::span<double> scores) override;
  std::span<const double> Context(ArmId arm) override { return ContextOf(arm); }
  std::optional<double> Reward(ArmId arm) override { return rewards_.Reward(arm, Predictor(arm)); }
  double Gap(ArmId arm) const override;
  double EstimationError(std::span<const double> thetas) const override {
    return problem_->EstimationError(thetas);
  }

  /// Returns ProjectedRounds where the problem allows it. It begins with the first round, so call it before
  /// Next.
  std::unique_ptr<UserWorld> ScoresOnly() const override;

 private:
  std::span<const double> ContextOf(ArmId arm) const {
    const Eigen::Index row = multi() ? 0 : arm;
    return {contexts_.data() + row * contexts_.cols(), static_cast<std::size_t>(contexts_.cols())};
  }
  double Predictor(ArmId arm) const {
    const Eigen::Index theta = multi() ? arm : 0;
    const Eigen::Index d = contexts_.cols();
    return Dot(ContextOf(arm).data(), problem_->thetas().data() + theta * d, d);
  }
  void DrawMargin();

  std::shared_ptr<const GlmProblem> problem_;
  std::uint64_t seed_;
  std::uint32_t replicate_;
  Facts facts_;
  LaneDraws draws_;
  internal::GlmRewards rewards_;
  ActionMatrix contexts_;
  Vector direction_;  // kMargin: theta*/|theta*|
};

/// Rounds with the distribution of DrawnRounds (but not the same rounds), for one parameter and for
/// distributions that no rotation changes. It does not draw the vectors that nobody reads. For every arm it
/// draws the coordinates on a basis e1, e2 of a plane that contains theta_hat and theta*. For the arm that is
/// asked for, it also draws the rest. This is exact: coordinates on orthonormal vectors have the same
/// distribution for any such vectors that are fixed before the draw or independent of it, and theta_hat comes
/// from earlier rounds. docs/proofs/projected-rounds.md.
///
/// Call Scores once per round, before the others, and Context for one arm per round. If theta_hat = 0, all
/// scores are 0.
class ProjectedRounds final : public UserWorld {
 public:
  /// Returns whether the problem has a single parameter, kSphere or kGaussian contexts, and d >= 2.
  static bool Accepts(const GlmProblem& problem);

  ProjectedRounds(std::shared_ptr<const GlmProblem> problem, std::uint64_t seed, std::uint32_t replicate,
                  Facts facts = {});

  Count dimension() const { return dimension_; }
  Count arms() const { return arms_; }
  static constexpr bool multi() { return false; }
  const GlmProblem& problem() const { return *problem_; }

  const Facts& facts() const override { return facts_; }

  bool Next() override {
    if (++round_ == rounds_) [[unlikely]]
      Refill();
    rewards_.NewRound();
    drawn_ = -1;
    return true;
  }

  void Scores(std::span<const double> theta, std::span<double> scores) override;

  std::span<const double> Context(ArmId arm) override {
    if (drawn_ != arm) DrawContext(arm);
    return context_;
  }

  std::optional<double> Reward(ArmId arm) override { return rewards_.Reward(arm, Predictor(arm)); }

  double Gap(ArmId arm) const override;
  double EstimationError(std::span<const double> thetas) const override {
    return problem_->EstimationError(thetas);
  }

 private:
  const ActionMatrix& Contexts() override;  // ends the program: they are never drawn
  const double* first() const { return first_.data() + round_ * arms_; }
  const double* second() const { return second_.data() + round_ * arms_; }
  double Predictor(ArmId arm) const { return std::fma(truth_[0], first()[arm], truth_[1] * second()[arm]); }
  void Refill();
  void SetBasis(std::span<const double> theta);
  void DrawContext(ArmId arm);

  std::shared_ptr<const GlmProblem> problem_;
  Facts facts_;
  Count dimension_;
  Count arms_;
  LaneDraws draws_;
  internal::GlmRewards rewards_;
  // The coordinates of all arms of `rounds_` rounds, and the current round.
  Count rounds_;
  Count round_;
  std::vector<double> first_;
  std::vector<double> second_;
  // theta_hat = length_ e1, theta* = truth_[0] e1 + truth_[1] e2. In two dimensions the basis is the standard
  // one, and e1_ and e2_ are not used.
  Vector e1_;
  Vector e2_;
  double length_ = 0;
  double truth_[2] = {0, 0};
  // The context of arm drawn_.
  ArmId drawn_ = -1;
  std::vector<double> context_;
};

}  // namespace bandana
