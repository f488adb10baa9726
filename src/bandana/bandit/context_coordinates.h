#pragma once

#include <vector>

#include "bandana/core/ids.h"
#include "bandana/core/linear_algebra.h"

/// The one-dimensional distributions behind the closed forms of g(theta): docs/proofs/context-reduction.md.
namespace bandana {

/// Returns P(U_1 > t), U uniform on the unit sphere of R^d; t is any number.
double SphereCoordinateTail(Count dimension, double t);

/// Return the mean of the largest of K independent copies of U_1, or of T_1, to 1e-11. T = Z / max(|Z|,
/// sqrt(d)), Z standard normal in R^d.
double MeanLargestSphereCoordinate(Count dimension, Count copies);
double MeanLargestGaussianCoordinate(Count dimension, Count copies);

/// Draw K independent scores h_b + radius U_1, with b drawn by the weights. `probability` is the probability
/// that the largest score is from cluster b. `coordinate` is the mean of U_1 of that score, counted as 0 if
/// it is from another cluster.
struct WinningCluster {
  double probability = 0;
  double coordinate = 0;
};
WinningCluster WinOfCluster(Count dimension, Count copies, const Vector& heights,
                            const std::vector<double>& weights, double radius, Eigen::Index cluster);

}  // namespace bandana
