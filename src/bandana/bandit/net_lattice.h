#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "bandana/core/linear_algebra.h"

namespace bandana::internal {

/// The lattice A_n*, scaled so that every point of R^n is within `covering_radius` of it. In low dimensions
/// it needs nearly the fewest points of all known lattices, and the optimal number for n <= 5 (J. H. Conway,
/// N. J. A. Sloane, "Sphere Packings, Lattices and Groups", chapters 2 and 4.6.6).
class CoveringLattice {
 public:
  CoveringLattice(int dimension, double covering_radius);

  /// Returns roughly how many points are in a ball of this radius: its volume divided by the volume of a
  /// cell.
  double ExpectedWithin(double radius) const;
  /// Returns an upper bound on the number of points in the ball of this radius around the origin.
  double MostWithin(double radius) const { return ExpectedWithin(radius + covering_radius_); }

  /// Calls `point` for every lattice point x with inner <= |x| <= outer (and a few more by rounding).
  /// `multiple` is the largest m such that x / m is a lattice point; 0 for the origin.
  void ForEach(double inner, double outer,
               absl::FunctionRef<void(const std::vector<double>& x, long multiple)> point) const;

 private:
  int dimension_;
  double covering_radius_;
  double log_cell_;  // ln of the volume of a cell
  Matrix basis_;     // lower triangular, one generator per row
};

}  // namespace bandana::internal
