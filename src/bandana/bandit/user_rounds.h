#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bandana/bandit/glm_problem.h"
#include "bandana/core/bit_source.h"
#include "bandana/core/generators.h"
#include "bandana/core/ids.h"
#include "bandana/core/lane_draws.h"
#include "bandana/core/linear_algebra.h"

/// Worlds with one new user a round, as sim/user_simulator.h runs learners in them.
namespace bandana {

/// A round: Next(), then Scores once, then the others, with one arm throughout.
///   Next      the next user comes; false: there are no more
///   Scores    single parameter: thetas is d numbers, scores[a] = <x_a, theta>;
///             multi: thetas is K x d row by row, scores[a] = <x, theta_a>
///   Context   d numbers: x_a, or x; valid until Next()
///   Reward    what comes of playing the arm, drawn once a round; nothing: the round does not count, and
///             nobody may learn from it
///   Gap       best mean - mean of the arm >= 0; NaN where the world cannot know (logs)
///   Contexts  of worlds that are kFull: K x d, or 1 x d if multi; valid until Next()
template <class World>
concept UserWorld = requires(World& world, const World& fixed, std::span<const double> thetas,
                             std::span<double> scores, ArmId arm) {
  { World::kFull } -> std::convertible_to<bool>;
  { world.Next() } -> std::same_as<bool>;
  { world.Scores(thetas, scores) } -> std::same_as<void>;
  { world.Context(arm) } -> std::same_as<std::span<const double>>;
  { world.Reward(arm) } -> std::same_as<std::optional<double>>;
  { world.Gap(arm) } -> std::same_as<double>;
  { fixed.dimension() } -> std::same_as<Count>;
  { fixed.arms() } -> std::same_as<Count>;
  { fixed.multi() } -> std::same_as<bool>;
  requires !World::kFull || requires {
    { world.Contexts() } -> std::same_as<const ActionMatrix&>;
  };
};

namespace internal {

/// What the worlds of a GlmProblem share: the coins of rewards, and the outcome of the arm played.
class RewardDesk {
 public:
  RewardDesk(const GlmProblem& problem, std::uint64_t seed, std::uint32_t replicate)
      : problem_(&problem),
        bits_({.seed = seed, .replicate = replicate, .stream = Stream::kReward}),
        coin_(bits_) {}

  void NewRound() { arm_ = -1; }

  /// `predictor` is the arm's.
  double Reward(ArmId arm, double predictor) {
    if (arm_ != arm) {
      arm_ = arm;
      reward_ = problem_->DrawReward(predictor, coin_);
    }
    return reward_;
  }

  /// Best mean less that of an arm, from the predictors of both.
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

/// Rounds of a GlmProblem, every context drawn in full. Contexts are a function of (seed, replicate) and the
/// round alone: learners that are compared on a replicate meet the same users. Exact up to the rounding of
/// doubles; unit vectors are a few units in the last place short, so that no norm exceeds 1.
class DrawnRounds {
 public:
  static constexpr bool kFull = true;

  DrawnRounds(std::shared_ptr<const GlmProblem> problem, std::uint64_t seed, std::uint32_t replicate);

  Count dimension() const { return problem_->dimension(); }
  Count arms() const { return problem_->arms(); }
  bool multi() const { return problem_->multi(); }
  const GlmProblem& problem() const { return *problem_; }

  bool Next();
  const ActionMatrix& Contexts() const { return contexts_; }
  void Scores(std::span<const double> thetas, std::span<double> scores) const;
  std::span<const double> Context(ArmId arm) const {
    const Eigen::Index row = multi() ? 0 : arm;
    return {contexts_.data() + row * contexts_.cols(), static_cast<std::size_t>(contexts_.cols())};
  }
  std::optional<double> Reward(ArmId arm) { return desk_.Reward(arm, Predictor(arm)); }
  double Gap(ArmId arm) const;

 private:
  double Predictor(ArmId arm) const {
    const Eigen::Index theta = multi() ? arm : 0;
    const Eigen::Index d = contexts_.cols();
    return Dot(Context(arm).data(), problem_->thetas().data() + theta * d, d);
  }
  void DrawMargin();

  std::shared_ptr<const GlmProblem> problem_;
  LaneDraws draws_;
  internal::RewardDesk desk_;
  ActionMatrix contexts_;
  Vector direction_;  // kMargin: theta*/|theta*|
};

/// The same rounds in law (not the same ones), for one parameter and laws that no rotation changes, without
/// the vectors that nobody looks at: of every arm its coordinates on a basis e1, e2 of a plane with theta_hat
/// and theta* in it, and of the arm that is asked for the rest, too. Exact, since coordinates on any
/// orthonormal vectors have the same law, whichever they are, if they are fixed before the draw or
/// independent of it: theta_hat comes from earlier rounds. docs/proofs/projected-rounds.md.
///
/// Scores must be called once a round, before the others; Context for one arm a round. theta_hat = 0: all
/// scores are 0.
class ProjectedRounds {
 public:
  static constexpr bool kFull = false;

  /// Single parameter, kSphere or kGaussian, d >= 2.
  static bool Accepts(const GlmProblem& problem);

  ProjectedRounds(std::shared_ptr<const GlmProblem> problem, std::uint64_t seed, std::uint32_t replicate);

  Count dimension() const { return dimension_; }
  Count arms() const { return arms_; }
  static constexpr bool multi() { return false; }
  const GlmProblem& problem() const { return *problem_; }

  bool Next() {
    if (++round_ == rounds_) [[unlikely]]
      Refill();
    desk_.NewRound();
    drawn_ = -1;
    return true;
  }

  void Scores(std::span<const double> theta, std::span<double> scores);

  std::span<const double> Context(ArmId arm) {
    if (drawn_ != arm) DrawContext(arm);
    return context_;
  }

  std::optional<double> Reward(ArmId arm) { return desk_.Reward(arm, Predictor(arm)); }

  double Gap(ArmId arm) const;

 private:
  const double* first() const { return first_.data() + round_ * arms_; }
  const double* second() const { return second_.data() + round_ * arms_; }
  double Predictor(ArmId arm) const { return std::fma(truth_[0], first()[arm], truth_[1] * second()[arm]); }
  void Refill();
  void SetBasis(std::span<const double> theta);
  void DrawContext(ArmId arm);

  std::shared_ptr<const GlmProblem> problem_;
  Count dimension_;
  Count arms_;
  LaneDraws draws_;
  internal::RewardDesk desk_;
  // Coordinates of all arms of `rounds_` rounds, and the one that is on.
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

static_assert(UserWorld<DrawnRounds> && UserWorld<ProjectedRounds>);

}  // namespace bandana
