#pragma once

#include <Eigen/Core>

namespace bandana {

/// One action per row, so that each action is contiguous in memory.
using ActionMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

/// A checked norm may exceed its bound by this factor, because rounding may have lengthened it.
inline constexpr double kNormSlack = 1 + 1e-9;

/// Returns <a, b>. The order of the summation depends on n alone, so that all processes get the same bits.
/// Eigen's dot() does not ensure this: its order depends on the alignment.
inline double Dot(const double* a, const double* b, Eigen::Index n) {
  using Lanes = Eigen::Array4d;
  Lanes sum = Lanes::Zero();
  Eigen::Index i = 0;
  for (; i + 4 <= n; i += 4) sum += Eigen::Map<const Lanes>(a + i) * Eigen::Map<const Lanes>(b + i);
  for (Eigen::Index lane = 0; i < n; ++i, ++lane) sum[lane] += a[i] * b[i];
  return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

/// Returns <row `row` of the actions, vector>.
inline double Dot(const ActionMatrix& actions, Eigen::Index row, const Vector& vector) {
  return Dot(actions.data() + row * actions.cols(), vector.data(), actions.cols());
}

}  // namespace bandana
