#pragma once

#include "absl/functional/function_ref.h"
#include "bandana/core/linear_algebra.h"

/// Nets of the unit sphere in R^d, d >= 2, by chord; the proofs are in docs/proofs/nets.md.
namespace bandana::internal {

/// Is handed one action after another.
using ActionSink = absl::FunctionRef<void(const double*)>;

enum class SphereNetKind {
  kBands,    ///< circles of latitude, and nets of them; in the plane: equal angles
  kSigns,    ///< vectors with up to so many entries, all +-1, divided by their norm: coarse nets in high
             ///< dimension
  kLattice,  ///< the points of A_d* near the sphere, divided by their norm
};

struct SphereNetPlan {
  SphereNetKind kind;
  double expected;  ///< actions, about
  double most;      ///< actions, at most
};

/// The kind of net with fewest actions of those that have at most `most`; the smallest bound if none has.
SphereNetPlan PlanSphereNet(int dimension, double radius, double most);

void MakeSphereNet(SphereNetKind kind, int dimension, double radius, ActionSink sink);

}  // namespace bandana::internal
