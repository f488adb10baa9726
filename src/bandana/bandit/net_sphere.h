#pragma once

#include "absl/functional/function_ref.h"
#include "bandana/core/linear_algebra.h"

/// Nets of the unit sphere in R^d, d >= 2; the radius is a chord. The proofs are in docs/proofs/nets.md.
namespace bandana::internal {

/// Receives one action after another.
using ActionSink = absl::FunctionRef<void(const double*)>;

enum class SphereNetKind {
  kBands,  ///< circles of latitude, and nets of them; in the plane: equal angles
  /// Vectors with a limited number of nonzero entries, all +-1, divided by their norm: coarse nets in high
  /// dimension.
  kSigns,
  kLattice,  ///< the points of A_d* near the sphere, divided by their norm
};

struct SphereNetPlan {
  SphereNetKind kind;
  double expected;  ///< about how many actions
  double most;      ///< at most how many actions
};

/// Returns the kind of net with the fewest actions among those with at most `most` actions. If no kind has so
/// few, returns the one with the smallest bound.
SphereNetPlan PlanSphereNet(int dimension, double radius, double most);

void MakeSphereNet(SphereNetKind kind, int dimension, double radius, ActionSink sink);

}  // namespace bandana::internal
