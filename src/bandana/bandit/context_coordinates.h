#pragma once

#include <vector>

#include "bandana/core/ids.h"
#include "bandana/core/linear_algebra.h"

/// One-dimensional laws behind the closed forms of g(theta): docs/proofs/context-reduction.md.
namespace bandana {

/// P(U_1 > t), U uniform on the unit sphere of R^d; t any number.
double SphereCoordinateTail(Count dimension, double t);

/// P(T_1 > t), T = Z / max(|Z|, sqrt(d)), Z standard normal in R^d; t in [0, 1].
double GaussianCoordinateTail(Count dimension, double t);

/// The mean of the largest of K independent copies of U_1, or of T_1, to 1e-11.
double MeanLargestSphereCoordinate(Count dimension, Count copies);
double MeanLargestGaussianCoordinate(Count dimension, Count copies);

/// Of K independent scores h_b + radius U_1, b drawn by the weights, the largest is of cluster b with
/// `probability`; `coordinate` is the mean of its U_1 where it is, and of 0 where it is not.
struct WinningCluster {
  double probability = 0;
  double coordinate = 0;
};
WinningCluster WinOfCluster(Count dimension, Count copies, const Vector& heights,
                            const std::vector<double>& weights, double radius, Eigen::Index cluster);

}  // namespace bandana
