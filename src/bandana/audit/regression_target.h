#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bandana/audit/target.h"
#include "bandana/privacy/regression_prefix_sum.h"
#include "bandana/privacy/shuffled_regression.h"

namespace bandana::audit {

struct RegressionRecord {
  std::vector<double> x;
  double y;
};

/// Two records that are as far apart as the space allows (docs/proofs/sensitivity.md); dimension >= 2.
std::array<RegressionRecord, 2> WorstRecords(const RegressionSpace& space);

/// All releases of all steps of a stream of one silo, with this record in the first step, which enters most
/// releases, and nothing else. `noise` is asked for a generator in every step.
absl::Status DrawRegression(const RegressionPrefixSum& privatizer, const RegressionRecord& first,
                            const std::function<NoiseGen&(std::int64_t step)>& noise, std::span<double> view);

/// The same view without noise, as a mechanism of this space would clip the record.
std::vector<double> RegressionCentre(const PrefixSumStrategy& strategy, const RegressionSpace& space,
                                     const RegressionRecord& first);

/// The adversary sees every release, and knows all but which of the two records the first step has.
Target RegressionTarget(const std::string& name, const RegressionPrefixSum& privatizer,
                        const std::array<RegressionRecord, 2>& records);

/// The same for the totals that a shuffler passes on. The first silo has the record; those after the first
/// `honest` add no noise.
Target ShuffledRegressionTarget(const std::string& name, const ShuffledRegressionSum& privatizer,
                                Count honest, const std::array<RegressionRecord, 2>& records);

}  // namespace bandana::audit
