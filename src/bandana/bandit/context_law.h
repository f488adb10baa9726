#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/core/generators.h"
#include "bandana/core/ids.h"
#include "bandana/core/linear_algebra.h"
#include "bandana/core/reward.h"

/// Contexts of a contextual linear bandit: a context is a decision set, one action phi(a, c) a row, |phi|
/// <= 1.
namespace bandana {

/// The action that policy theta plays in a context: argmax <phi, theta>, ties to the smallest index. It is
/// the client's part of P2, Section III-A, in the lab and in a deployment. The paper breaks ties arbitrarily;
/// but g(theta) is the mean of *these* picks, so whoever computes g and whoever plays must break them alike.
ArmId PickAction(const ActionMatrix& context, const Vector& theta);

/// How much better the best action of a context is than the one that `policy` plays: one round's term of the
/// contextual regret.
double ContextGap(const ActionMatrix& context, const Vector& policy, const Vector& theta);

/// A known distribution of contexts.
class ContextLaw {
 public:
  virtual ~ContextLaw() = default;

  Count actions() const { return actions_; }      ///< K, of one context
  Count dimension() const { return dimension_; }  ///< d

  /// Draws a context into the K x d matrix.
  virtual void Draw(CoinGen& coin, ActionMatrix& context) const = 0;

  /// g(theta) = E phi(PickAction(c, theta)), to 1e-10, one row a row of `thetas`, none of them zero. Nothing
  /// if it has no form that can be computed: then see SampleResponses.
  virtual std::optional<ActionMatrix> Responses(const ActionMatrix& thetas) const = 0;

  /// An interval with all <phi, theta> of all contexts in it.
  virtual Interval Means(const Vector& theta) const = 0;

 protected:
  ContextLaw(Count actions, Count dimension) : actions_(actions), dimension_(dimension) {}

 private:
  Count actions_;
  Count dimension_;
};

/// Uniform on the contexts given: g is exact.
class SampledContexts final : public ContextLaw {
 public:
  /// Contexts of `actions` rows each, one under the other.
  static absl::StatusOr<std::shared_ptr<const SampledContexts>> Create(ActionMatrix stacked, Count actions);

  Count size() const { return stacked_.rows() / actions(); }
  void Draw(CoinGen& coin, ActionMatrix& context) const override;
  std::optional<ActionMatrix> Responses(const ActionMatrix& thetas) const override;
  Interval Means(const Vector& theta) const override;

 private:
  SampledContexts(ActionMatrix stacked, Count actions);
  ActionMatrix stacked_;
};

/// K independent actions of a law that no rotation changes. Then g(theta) = c theta / |theta|, c the mean of
/// the largest of K independent coordinates (docs/proofs/context-reduction.md).
class RotationInvariantContexts : public ContextLaw {
 public:
  std::optional<ActionMatrix> Responses(const ActionMatrix& thetas) const override;
  Interval Means(const Vector& theta) const override;
  double scale() const { return scale_; }  ///< c

 protected:
  RotationInvariantContexts(Count actions, Count dimension, double scale)
      : ContextLaw(actions, dimension), scale_(scale) {}

 private:
  double scale_;
};

/// Actions uniform on the unit sphere.
class SphereContexts final : public RotationInvariantContexts {
 public:
  static absl::StatusOr<std::shared_ptr<const SphereContexts>> Create(Count actions, Count dimension);
  void Draw(CoinGen& coin, ActionMatrix& context) const override;

 private:
  using RotationInvariantContexts::RotationInvariantContexts;
};

/// Actions N(0, I/d), those outside the unit ball pulled back to its surface: phi = z / max(|z|, sqrt(d)).
class GaussianContexts final : public RotationInvariantContexts {
 public:
  static absl::StatusOr<std::shared_ptr<const GaussianContexts>> Create(Count actions, Count dimension);
  void Draw(CoinGen& coin, ActionMatrix& context) const override;

 private:
  using RotationInvariantContexts::RotationInvariantContexts;
};

/// Each action on a sphere around one of several centres, independently: a law with directions of its own, so
/// that g is not a multiple of theta.
class ClusterContexts final : public ContextLaw {
 public:
  struct Params {
    Count actions = 0;
    ActionMatrix centres;         ///< one a row
    std::vector<double> weights;  ///< positive, sum 1
    double radius = 0;            ///< > 0; centres are no farther out than 1 - radius
  };
  static absl::StatusOr<std::shared_ptr<const ClusterContexts>> Create(Params params);

  /// Two centres, +-e_1 / 2, of weights 2/3 and 1/3, and radius 1/2.
  static absl::StatusOr<std::shared_ptr<const ClusterContexts>> Two(Count actions, Count dimension);

  void Draw(CoinGen& coin, ActionMatrix& context) const override;
  std::optional<ActionMatrix> Responses(const ActionMatrix& thetas) const override;
  Interval Means(const Vector& theta) const override;

 private:
  explicit ClusterContexts(Params params);
  Vector Response(const Vector& direction) const;
  Params params_;
};

/// g(theta) by Monte Carlo, for a law without a form of its own, or for a learner who knows it from samples
/// alone.
struct SampledResponses {
  ActionMatrix responses;
  /// For every fixed theta*, |theta*| <= 1: with probability 1 - level over the draws, |<estimate - g,
  /// theta*>| is at most this for all rows at once: sqrt(2 ln(2 M / level) / N), Hoeffding.
  double error = 0;
};
absl::StatusOr<SampledResponses> SampleResponses(const ContextLaw& law, const ActionMatrix& thetas,
                                                 Count samples, double level, CoinGen& coin);

/// One context a line: its `actions` x `dimension` numbers action by action, separated by commas; empty lines
/// and lines that start with # are skipped. A number that is none, a wrong count of them or an action outside
/// the unit ball is an error that names file and line.
absl::StatusOr<std::shared_ptr<const SampledContexts>> ReadContexts(const std::string& path, Count actions,
                                                                    Count dimension);

}  // namespace bandana
