#pragma once

#include <cmath>
#include <vector>

#include "bandana/core/linear_algebra.h"

namespace bandana::internal {

/// An orthonormal basis of the span of the vectors that were added.
class Span {
 public:
  explicit Span(Eigen::Index dimension) : residual_(dimension) {}
  Eigen::Index rank() const { return std::ssize(basis_); }
  bool full() const { return rank() == residual_.size(); }

  double Distance(const double* x) {
    residual_ = Eigen::Map<const Vector>(x, residual_.size());
    for (int pass = 0; pass < 2; ++pass) {
      for (const Vector& b : basis_) residual_ -= Dot(b.data(), residual_.data(), residual_.size()) * b;
    }
    return std::sqrt(Dot(residual_.data(), residual_.data(), residual_.size()));
  }

  /// Adds x if its distance from the span exceeds `farther_than`. Returns whether it did.
  bool Add(const double* x, double farther_than) {
    const double distance = Distance(x);
    if (!(distance > farther_than)) return false;
    basis_.emplace_back(residual_ / distance);
    return true;
  }

 private:
  std::vector<Vector> basis_;
  Vector residual_;
};

}  // namespace bandana::internal
