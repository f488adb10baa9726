#pragma once

#include <Eigen/Eigenvalues>

#include "absl/status/status.h"
#include "bandana/core/ids.h"
#include "bandana/core/linear_algebra.h"

namespace bandana {

/// Least squares from V = sum of x x' + ... and u = sum of y x + ..., kept up record by record: V^-1,
/// theta = V^-1 u and ln det V. J. Sherman, W. J. Morrison, Ann. Math. Statist. 21(1), 1950. Every kRefresh
/// records everything is computed anew from V and u, against drift.
///
/// Sums are in an order that depends on d alone, so that equal records give equal bits everywhere.
class OptimisticRegression {
 public:
  static constexpr Count kRefresh = 1024;
  using View = Eigen::Ref<const Matrix>;

  explicit OptimisticRegression(Eigen::Index dimension);

  /// Starts from V, of which the lower triangle is read, and u. Fails with kFailedPrecondition, and changes
  /// nothing, unless V is positive definite and everything is finite.
  absl::Status Reset(const Matrix& gram, const Vector& moments);

  /// Adds a record (x, y), where x has d finite entries. There must have been a Reset. It takes O(d^2) and
  /// allocates nothing.
  void Add(const double* x, double y);

  Eigen::Index dimension() const { return gram_.cols(); }
  View gram() const { return gram_.topRows(dimension()); }        ///< V
  View inverse() const { return inverse_.topRows(dimension()); }  ///< V^-1, symmetric to the last bit
  const Vector& moments() const { return moments_; }              ///< u
  const Vector& theta() const { return theta_; }
  double log_det() const { return log_det_; }                ///< ln det V
  double min_eigenvalue() const { return min_eigenvalue_; }  ///< of V at Reset; it only grows
  Count added() const { return added_; }                     ///< records since Reset

  template <class Archive>
  void State(Archive& a) {
    a.Sized(gram_, moments_, inverse_, theta_);
    a(log_det_, min_eigenvalue_, added_);
  }

 private:
  bool Factor(const Matrix& gram);
  void Solve();

  Eigen::Index rows_;  // matrices have d rows, and zeros up to a whole number of registers
  Matrix gram_;
  Vector moments_;
  Matrix inverse_;
  Vector theta_;
  double log_det_ = 0;
  double min_eigenvalue_ = 0;
  Count added_ = 0;
  Matrix factor_;  // lower triangular, V = factor factor'
  Vector record_;  // scratch
  Vector direction_;
  Eigen::SelfAdjointEigenSolver<Matrix> eigen_;
};

}  // namespace bandana
