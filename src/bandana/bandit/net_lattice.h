#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "bandana/core/linear_algebra.h"

namespace bandana::internal {

/// The lattice A_n*, scaled so that no point of R^n is farther than `covering_radius` from it. Among the
/// known lattices it covers with nearly the fewest points in low dimensions, and optimally for n <= 5
/// (J. H. Conway, N. J. A. Sloane, "Sphere Packings, Lattices and Groups", chapters 2 and 4.6.6).
class CoveringLattice {
 public:
  CoveringLattice(int dimension, double covering_radius);

  /// Number of points in a ball of this radius, about: its volume over a cell's.
  double ExpectedWithin(double radius) const;
  /// No ball of this radius about the origin has more.
  double MostWithin(double radius) const { return ExpectedWithin(radius + covering_radius_); }

  /// Every point x with inner <= |x| <= outer (and a few by rounding), with the greatest m such that x / m is
  /// a point, 0 for the origin.
  void ForEach(double inner, double outer,
               absl::FunctionRef<void(const std::vector<double>& x, long multiple)> point) const;

 private:
  int dimension_;
  double covering_radius_;
  double log_cell_;  // ln of a cell's volume
  Matrix basis_;     // lower triangular, a generator a row
};

}  // namespace bandana::internal
