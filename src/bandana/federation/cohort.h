#pragma once

#include <string>
#include <vector>

#include "bandana/core/ids.h"

namespace bandana {

/// A digest of a set of clients, in whatever order they are given. A report that a shuffler is to mix names
/// the cohort it is for, so that the same draw never enters two mixes: the noise of those in both would
/// cancel (docs/proofs/shuffle-sum.md).
std::string CohortOf(std::vector<NodeId> clients);

/// Of clients first .. first + count - 1.
std::string CohortOf(NodeId first, Count count);

}  // namespace bandana
