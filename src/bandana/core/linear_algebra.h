#pragma once

#include <Eigen/Core>

namespace bandana {

/// One action a row, so that an action is contiguous.
using ActionMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

/// <a, b>, summed in an order that depends on n alone, unlike Eigen's dot(), which looks at the alignment:
/// for all that must agree bit for bit between processes.
inline double Dot(const double* a, const double* b, Eigen::Index n) {
  using Lanes = Eigen::Array4d;
  Lanes sum = Lanes::Zero();
  Eigen::Index i = 0;
  for (; i + 4 <= n; i += 4) sum += Eigen::Map<const Lanes>(a + i) * Eigen::Map<const Lanes>(b + i);
  for (Eigen::Index lane = 0; i < n; ++i, ++lane) sum[lane] += a[i] * b[i];
  return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

/// <row `row` of the actions, vector>.
inline double Dot(const ActionMatrix& actions, Eigen::Index row, const Vector& vector) {
  return Dot(actions.data() + row * actions.cols(), vector.data(), actions.cols());
}

}  // namespace bandana
