#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "bandana/audit/target.h"
#include "bandana/privacy/shuffle_means.h"

/// Attacks on the shuffle model by clients that work with the adversary. Such a client tells it what it sent.
/// The adversary subtracts that, so the attack is as strong as one in which this client sends nothing.
namespace bandana::audit {

/// The totals of a shuffle sum, where the last `colluding` clients of the query work with the adversary.
Target CollusionTarget(const std::string& name, const ShuffleSumMean& privatizer, const MeanQuery& query,
                       Count colluding);

/// The mixed reports of one coordinate, without those of `colluding` clients. All clients but the first are
/// at the first neighbour's end, where the first client's report hides best among theirs.
absl::StatusOr<Target> CollusionTarget(const std::string& name, const ShuffledLaplaceMean& privatizer,
                                       const MeanQuery& query, Count colluding);

}  // namespace bandana::audit
