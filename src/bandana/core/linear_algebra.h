#pragma once

#include <Eigen/Core>

namespace bandana {

/// One action a row, so that an action is contiguous.
using ActionMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

}  // namespace bandana
