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

/// Contexts of a contextual linear bandit. A context is a decision set: a matrix with one action phi(a, c)
/// per row, |phi| <= 1.
namespace bandana {

/// Returns the action that policy theta plays in a context: argmax <phi, theta>, ties to the smallest index.
/// This is the client's part of P2, Section III-A, in the lab and in a deployment. The paper breaks ties
/// arbitrarily. Here g(theta) is the mean of *these* picks, so the code that computes g and the code that
/// plays must break ties in the same way.
ArmId PickAction(const ActionMatrix& context, const Vector& theta);

/// A known distribution of contexts.
class ContextLaw {
 public:
  virtual ~ContextLaw() = default;

  Count actions() const { return actions_; }      ///< K, the number of actions in one context
  Count dimension() const { return dimension_; }  ///< d

  /// Draws a context into the K x d matrix.
  virtual void Draw(CoinGen& coin, ActionMatrix& context) const = 0;

  /// Returns g(theta) = E phi(PickAction(c, theta)), to 1e-10, one row for each row of `thetas`. No theta may
  /// be zero. Returns nothing if g cannot be computed; then use SampleResponses.
  virtual std::optional<ActionMatrix> Responses(const ActionMatrix& thetas) const = 0;

  /// Returns an interval that contains <phi, theta> for all actions of all contexts.
  virtual Interval Means(const Vector& theta) const = 0;

 protected:
  ContextLaw(Count actions, Count dimension) : actions_(actions), dimension_(dimension) {}

 private:
  Count actions_;
  Count dimension_;
};

/// The uniform distribution on the given contexts. g is exact.
class SampledContexts final : public ContextLaw {
 public:
  /// `stacked` holds the contexts one under the other, with `actions` rows each.
  static absl::StatusOr<std::shared_ptr<const SampledContexts>> Create(ActionMatrix stacked, Count actions);

  Count size() const { return stacked_.rows() / actions(); }
  void Draw(CoinGen& coin, ActionMatrix& context) const override;
  std::optional<ActionMatrix> Responses(const ActionMatrix& thetas) const override;
  Interval Means(const Vector& theta) const override;

 private:
  SampledContexts(ActionMatrix stacked, Count actions);
  ActionMatrix stacked_;
};

/// K independent actions from a distribution that no rotation changes. Then g(theta) = c theta / |theta|,
/// where c is the mean of the largest of K independent coordinates (docs/proofs/context-reduction.md).
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

/// Actions are uniform on the unit sphere.
class SphereContexts final : public RotationInvariantContexts {
 public:
  static absl::StatusOr<std::shared_ptr<const SphereContexts>> Create(Count actions, Count dimension);
  void Draw(CoinGen& coin, ActionMatrix& context) const override;

 private:
  using RotationInvariantContexts::RotationInvariantContexts;
};

/// Actions are N(0, I/d). Those outside the unit ball are projected to its surface: phi = z / max(|z|,
/// sqrt(d)).
class GaussianContexts final : public RotationInvariantContexts {
 public:
  static absl::StatusOr<std::shared_ptr<const GaussianContexts>> Create(Count actions, Count dimension);
  void Draw(CoinGen& coin, ActionMatrix& context) const override;

 private:
  using RotationInvariantContexts::RotationInvariantContexts;
};

/// Each action is, independently, on a sphere around one of several centres. This distribution has preferred
/// directions, so g is not a multiple of theta.
class ClusterContexts final : public ContextLaw {
 public:
  struct Params {
    Count actions = 0;
    ActionMatrix centres;         ///< one per row
    std::vector<double> weights;  ///< positive, sum 1
    double radius = 0;            ///< > 0; the norm of a centre is at most 1 - radius
  };
  static absl::StatusOr<std::shared_ptr<const ClusterContexts>> Create(Params params);

  /// Two centres, +-e_1 / 2, with weights 2/3 and 1/3 and radius 1/2.
  static absl::StatusOr<std::shared_ptr<const ClusterContexts>> Two(Count actions, Count dimension);

  void Draw(CoinGen& coin, ActionMatrix& context) const override;
  std::optional<ActionMatrix> Responses(const ActionMatrix& thetas) const override;
  Interval Means(const Vector& theta) const override;

 private:
  explicit ClusterContexts(Params params);
  Vector Response(const Vector& direction) const;
  Params params_;
};

/// Estimates g(theta) by Monte Carlo: for a distribution without a closed form, or for a learner that knows
/// the distribution only from samples.
struct SampledResponses {
  ActionMatrix responses;
  /// A bound for every fixed theta* with |theta*| <= 1: with probability 1 - level over the draws, |<estimate
  /// - g, theta*>| is at most this for all M rows at once. It is sqrt(2 ln(2 M / level) / N) for N samples,
  /// by Hoeffding.
  double error = 0;
};
absl::StatusOr<SampledResponses> SampleResponses(const ContextLaw& law, const ActionMatrix& thetas,
                                                 Count samples, double level, CoinGen& coin);

/// Reads one context per line: its `actions` x `dimension` numbers, action by action, separated by commas.
/// Empty lines and lines that start with # are skipped. Fails, naming the file and the line, if a field is
/// not a number, if the count is wrong, or if an action is outside the unit ball.
absl::StatusOr<std::shared_ptr<const SampledContexts>> ReadContexts(const std::string& path, Count actions,
                                                                    Count dimension);

}  // namespace bandana
