#pragma once

#include <cmath>

#include "absl/status/status.h"
#include "bandana/algorithms/fed_ucb/fed_ucb_width.h"
#include "bandana/algorithms/fed_ucb/optimistic_regression.h"
#include "bandana/algorithms/fed_ucb/ucb_index.h"
#include "bandana/bandit/decision_set.h"
#include "bandana/core/check.h"
#include "bandana/core/status.h"

namespace bandana {

/// Decides by one estimator: lines 4 to 8 of P3's Algorithm 1. It learns from released sums, and from an
/// agent's own records only under `local = raw`.
template <class Scalar>
class FedUcbPolicy {
 public:
  /// The policy knows nothing yet. `first_noise` is the standard deviation of the noise that the first
  /// release will have, which sets the shift until then. `width` must outlive the policy.
  FedUcbPolicy(const FedUcbWidth& width, double first_noise)
      : width_(&width), regression_(width.params().dimension) {
    regularizer_ = width.StartFor(first_noise);
    const auto d = static_cast<Eigen::Index>(width.params().dimension);
    BANDANA_CHECK(
        regression_.Reset(Matrix(Matrix::Identity(d, d) * regularizer_.shift), Vector::Zero(d)).ok());
    released_log_det_ = regression_.log_det();
    noise_term_ = width.StartTerm(first_noise, regularizer_);
    UpdateIndex();
  }

  /// Decides from now on by these sums, over all silos, and forgets everything else. A Gram matrix that its
  /// shift does not make positive definite gets the smallest further shift that does: a repair.
  absl::Status Learn(const RegressionSums& sums);

  ArmId Choose(const DecisionSet<Scalar>& set) const { return index_.Best(set); }

  /// Learns from a record of the agent's own, as it is.
  void LearnOwn(const double* x, double y) {
    regression_.Add(x, y);
    UpdateIndex();
  }

  double radius() const { return width_->DataTerm(regression_.log_det(), regularizer_) + noise_term_; }
  Count repairs() const { return repairs_; }  ///< how many there were
  const Regularizer& regularizer() const { return regularizer_; }
  const OptimisticRegression& regression() const { return regression_; }
  double released_log_det() const { return released_log_det_; }  ///< ln det V before own records

  template <class Archive>
  void State(Archive& a) {
    a(regression_, regularizer_, released_log_det_, noise_term_, repairs_);
    if constexpr (Archive::kReads) {
      if (a.ok()) a.Check(radius() >= 0, "its confidence radius is not a number >= 0");
      if (a.ok()) UpdateIndex();  // the regression has its sizes then
    }
  }

 private:
  void UpdateIndex() { index_.Set(regression_.inverse(), regression_.theta(), radius()); }

  const FedUcbWidth* width_;
  OptimisticRegression regression_;
  UcbIndex<Scalar> index_;
  Regularizer regularizer_;
  double released_log_det_ = 0;
  double noise_term_ = 0;  // its part of the radius
  Count repairs_ = 0;
};

extern template class FedUcbPolicy<double>;
extern template class FedUcbPolicy<float>;

}  // namespace bandana
