#pragma once

#include <string>
#include <vector>

#include "bandana/core/ids.h"

namespace bandana {

/// Returns a digest of a set of clients; their order does not matter. A report that a shuffler mixes names
/// its cohort, so the same draw never enters two mixes. If it did, the noise of the clients in both mixes
/// would cancel (docs/proofs/shuffle-sum.md).
std::string CohortOf(std::vector<NodeId> clients);

/// Returns the digest of clients first .. first + count - 1.
std::string CohortOf(NodeId first, Count count);

}  // namespace bandana
