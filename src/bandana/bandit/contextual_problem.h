#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "bandana/bandit/context_law.h"
#include "bandana/bandit/linear_problem.h"

namespace bandana {

/// Returns the directions theta_j of the policies: both directions in dimension 1, equally spaced angles in
/// dimension 2, draws from the sphere in higher dimensions. A policy at angle a from theta* loses at most
/// 2 |theta*| sin(a) per round, whatever the contexts (docs/proofs/context-reduction.md).
absl::StatusOr<ActionMatrix> PolicyDirections(Count dimension, Count policies, std::uint64_t seed);

/// Returns directions that are a net of the sphere: the coarsest whose policies cost a regret of at most 1 in
/// total over the horizon if contexts have the same law in all directions, or the finest with `most_entries`
/// numbers (docs/proofs/context-reduction.md). `horizon` is T |theta*|.
absl::StatusOr<ActionMatrix> PolicyNet(Count dimension, double horizon, Count most_entries);

/// The reduction of contextual linear bandits with a known context distribution to linear bandits. It has
/// finitely many policies theta_j, and X = {g(theta_j)}, computed once for all who share it. O. A. Hanna, L.
/// F. Yang, C. Fragouli, "Contexts can be Cheap", COLT 2023; P2, Section III-A.
///   paper            here
///   c_t ~ P          ContextLaw
///   Theta            thetas()
///   g, X             responses()
///   theta = g^-1(x)  thetas().row(arm)
class PolicySet {
 public:
  struct Params {
    std::shared_ptr<const ContextLaw> law;
    ActionMatrix thetas;  ///< one per row, none zero
    /// 0: g is the law's own. Otherwise the learner knows the law only from this many contexts drawn from it,
    /// and the estimate has an error: P2's first open point.
    Count samples = 0;
    double sample_level = 1e-6;  ///< the probability that the error is larger than claimed
    std::uint64_t seed = 0;      ///< the seed of the samples
  };

  /// Policies with equal responses, g(theta_i) = g(theta_j), are kept once.
  static absl::StatusOr<std::shared_ptr<const PolicySet>> Create(Params params);

  const ContextLaw& law() const { return *law_; }
  const ActionMatrix& thetas() const { return thetas_; }

  /// Returns the learner's action set: g(theta_j), or its estimate.
  const ActionMatrix& responses() const { return responses_; }

  /// Returns a bound on |mean reward of policy j - <theta*, responses().row(j)>| for all j. If it is not 0,
  /// it holds with probability 1 - sample_level.
  double misspecification() const { return misspecification_; }

  /// Returns g(theta_j) itself, which determines what policies really earn. It is an estimate from samples if
  /// the law has nothing better.
  const ActionMatrix& truth() const { return truth_.size() == 0 ? responses_ : truth_; }
  bool truth_is_exact() const { return exact_; }

  /// Returns <g(theta), theta>, computed like truth(). No policy does better.
  double BestValue(const Vector& theta) const;

 private:
  PolicySet() = default;
  absl::StatusOr<SampledResponses> Sample(const ActionMatrix& thetas) const;

  std::shared_ptr<const ContextLaw> law_;
  ActionMatrix thetas_;
  ActionMatrix responses_;
  ActionMatrix truth_;  // empty: equal to responses_
  double misspecification_ = 0;
  bool exact_ = true;
  Count samples_ = 0;
  double sample_level_ = 0;
  std::uint64_t seed_ = 0;
};

/// A policy set and the theta*, which the learner does not know.
class ContextualProblem {
 public:
  static absl::StatusOr<ContextualProblem> Create(std::shared_ptr<const PolicySet> policies, Vector theta);

  /// Draws theta* for the replicate.
  static absl::StatusOr<ContextualProblem> Draw(std::shared_ptr<const PolicySet> policies, double theta_norm,
                                                std::uint64_t seed, std::uint32_t replicate);

  const PolicySet& policies() const { return *policies_; }
  const Vector& theta() const { return linear_->theta(); }

  /// Returns the linear bandit that remains: arm j has mean <g(theta_j), theta*>. Regret is measured against
  /// <g(theta*), theta*>, the best value of any policy, in the set or not.
  const LinearProblem& linear() const { return *linear_; }

 private:
  ContextualProblem(std::shared_ptr<const PolicySet> policies, std::shared_ptr<const LinearProblem> linear)
      : policies_(std::move(policies)), linear_(std::move(linear)) {}
  std::shared_ptr<const PolicySet> policies_;
  std::shared_ptr<const LinearProblem> linear_;
};

}  // namespace bandana
