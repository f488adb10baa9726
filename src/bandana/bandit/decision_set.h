#pragma once

#include <Eigen/Core>

#include "bandana/core/ids.h"

namespace bandana {

/// A view of the K arms, vectors of R^d, from which one agent may choose in one round. The layout is
/// coordinate by coordinate: the j-th entries of all arms lie side by side, so that a few arms at a time fill
/// a register. `stride` >= arms is a whole number of registers; entries beyond the last arm are 0.
template <class Scalar>
struct DecisionSet {
  const Scalar* entries = nullptr;  ///< entry j of arm a at j * stride + a, aligned to 64 bytes
  Eigen::Index arms = 0;            ///< K
  Eigen::Index stride = 0;
  Eigen::Index dimension = 0;  ///< d

  Scalar at(ArmId arm, Eigen::Index j) const { return entries[j * stride + arm]; }
};

}  // namespace bandana
