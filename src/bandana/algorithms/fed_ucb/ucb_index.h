#pragma once

#include <vector>

#include "bandana/bandit/decision_set.h"
#include "bandana/core/ids.h"
#include "bandana/core/linear_algebra.h"

namespace bandana {

/// Chooses among the arms x of a round by the largest <x, theta> + beta |x|_A, |x|_A^2 = x'A x, for all arms
/// at once: K d (d + 4) floating-point operations in registers of several arms, K square roots.
///
/// Arithmetic is in `Scalar`, in an order that depends on d alone: neither the set's place in memory nor an
/// arm's neighbours change its index. x'A x is 0 where rounding makes it negative.
template <class Scalar>
class UcbIndex {
 public:
  /// A = `inverse` must be symmetric (its upper triangle is not read) and have theta's size; beta >= 0. It
  /// takes O(d^2) and allocates only when the size changes.
  void Set(const Eigen::Ref<const Matrix>& inverse, const Vector& theta, double beta);

  /// Returns the arm with the largest index, the first if there are several. The set must have theta's
  /// dimension, and its stride must be a multiple of 64 bytes.
  ArmId Best(const DecisionSet<Scalar>& set) const;

 private:
  Eigen::Index dimension_ = 0;
  std::vector<Scalar> forms_;  // A's lower triangle, twice off the diagonal, in the order that Best reads it
  std::vector<Scalar> theta_;
  Scalar beta_ = 0;
};

extern template class UcbIndex<double>;
extern template class UcbIndex<float>;

}  // namespace bandana
