#include "bandana/algorithms/fed_ucb/optimistic_regression.h"

#include <algorithm>
#include <cmath>

#include "bandana/core/check.h"
#include "bandana/core/lanes.h"
#include "fmt/format.h"

namespace bandana {
namespace {

using Eigen::Index;
using lanes::Broadcast;
using lanes::Doubles;
using lanes::Load;
using lanes::MulAdd;

constexpr Index kLanes = lanes::kCount<double>;

/// Computes to += factor from, entry by entry, so that no order of additions matters.
void AddScaled(double factor, const double* from, double* to, Index n) {
  for (Index i = 0; i < n; ++i) to[i] += factor * from[i];
}

}  // namespace

OptimisticRegression::OptimisticRegression(Eigen::Index dimension)
    : rows_((dimension + kLanes - 1) / kLanes * kLanes),
      gram_(Matrix::Zero(rows_, dimension)),
      moments_(Vector::Zero(dimension)),
      inverse_(Matrix::Zero(rows_, dimension)),
      theta_(Vector::Zero(dimension)),
      factor_(Matrix::Zero(dimension, dimension)),
      record_(Vector::Zero(rows_)),
      direction_(Vector::Zero(rows_)),
      eigen_(dimension) {
  BANDANA_CHECK(dimension >= 1);
}

absl::Status OptimisticRegression::Reset(const Matrix& gram, const Vector& moments) {
  const Index d = dimension();
  BANDANA_CHECK(gram.rows() == d && gram.cols() == d && moments.size() == d);
  for (const double moment : moments) {
    if (!std::isfinite(moment)) {
      return absl::FailedPreconditionError(fmt::format("a moment is not finite: {}", moment));
    }
  }
  if (!Factor(gram)) return absl::FailedPreconditionError("the Gram matrix is not positive definite");
  for (Index j = 0; j < d; ++j) {
    for (Index i = j; i < d; ++i) gram_(i, j) = gram_(j, i) = gram(i, j);
  }
  moments_ = moments;
  added_ = 0;
  Solve();
  eigen_.compute(gram_.topRows(d), Eigen::EigenvaluesOnly);
  min_eigenvalue_ = std::max(0.0, eigen_.eigenvalues()[0]);
  return absl::OkStatus();
}

// With w = V^-1 x and c = 1/(1 + x'w): V^-1 falls by c w w', theta moves by c (y - <theta, x>) w, and det V
// grows by the factor 1/c.
void OptimisticRegression::Add(const double* x, double y) {
  const Index d = dimension();
  double* record = record_.data();  // x and zeros, as many as a column has rows
  double* direction = direction_.data();
  std::copy_n(x, d, record);
  for (Index i = 0; i < rows_; i += kLanes) {
    Doubles sum = {};
    const double* column = inverse_.data() + i;
    for (Index j = 0; j < d; ++j, column += rows_) sum = MulAdd(Broadcast(record[j]), Load(column), sum);
    lanes::Store(direction + i, sum);
  }
  const double leverage = std::max(0.0, Dot(record, direction, rows_));
  const double shrink = 1 / (1 + leverage);
  const double step = shrink * (y - Dot(theta_.data(), x, d));
  for (Index j = 0; j < d; ++j) theta_[j] += step * direction[j];
  log_det_ += std::log1p(leverage);
  const double root = std::sqrt(shrink);  // split evenly, so that V^-1 stays symmetric
  for (Index i = 0; i < rows_; ++i) direction[i] *= root;
  double* gram = gram_.data();
  double* inverse = inverse_.data();
  for (Index j = 0; j < d; ++j, gram += rows_, inverse += rows_) {
    const Doubles record_j = Broadcast(record[j]);
    const Doubles direction_j = Broadcast(-direction[j]);
    for (Index i = 0; i < rows_; i += kLanes) {
      lanes::Store(gram + i, MulAdd(record_j, Load(record + i), Load(gram + i)));
      lanes::Store(inverse + i, MulAdd(direction_j, Load(direction + i), Load(inverse + i)));
    }
  }
  for (Index j = 0; j < d; ++j) moments_[j] += y * record[j];
  ++added_;
  if (added_ % kRefresh != 0) return;
  BANDANA_CHECK(Factor(gram_));
  Solve();
}

/// Computes Cholesky's factor, column by column. Returns false if there is none.
bool OptimisticRegression::Factor(const Matrix& gram) {
  const Index d = dimension();
  for (Index j = 0; j < d; ++j) {
    double* column = factor_.col(j).data() + j;
    std::copy_n(gram.col(j).data() + j, d - j, column);
    for (Index k = 0; k < j; ++k) AddScaled(-factor_(j, k), factor_.col(k).data() + j, column, d - j);
    if (!(column[0] > 0 && std::isfinite(column[0]))) return false;
    const double root = std::sqrt(column[0]);
    for (Index i = 0; i < d - j; ++i) {
      column[i] /= root;
      if (!std::isfinite(column[i])) return false;
    }
  }
  return true;
}

/// Computes the inverse M of the factor, then V^-1 = M'M and theta = M'(M u).
void OptimisticRegression::Solve() {
  const Index d = dimension();
  log_det_ = 0;
  for (Index j = 0; j < d; ++j) log_det_ += 2 * std::log(factor_(j, j));
  // Column j of M takes the place of column j of the factor, from the last: it needs only M's columns beyond
  // j.
  for (Index j = d - 1; j >= 0; --j) {
    const double inverse_pivot = 1 / factor_(j, j);
    // M_ij = -(sum over j < k <= i of M_ik L_kj) / L_jj
    std::fill_n(direction_.data() + j, d - j, 0.0);
    for (Index k = j + 1; k < d; ++k) {
      AddScaled(factor_(k, j), factor_.col(k).data() + k, direction_.data() + k, d - k);
    }
    factor_(j, j) = inverse_pivot;
    for (Index i = j + 1; i < d; ++i) factor_(i, j) = -direction_[i] * inverse_pivot;
  }
  for (Index j = 0; j < d; ++j) {
    for (Index i = j; i < d; ++i) {
      inverse_(i, j) = inverse_(j, i) = Dot(factor_.col(i).data() + i, factor_.col(j).data() + i, d - i);
    }
  }
  std::fill_n(direction_.data(), d, 0.0);
  for (Index j = 0; j < d; ++j) {
    AddScaled(moments_[j], factor_.col(j).data() + j, direction_.data() + j, d - j);
  }
  for (Index j = 0; j < d; ++j) theta_[j] = Dot(factor_.col(j).data() + j, direction_.data() + j, d - j);
}

}  // namespace bandana
