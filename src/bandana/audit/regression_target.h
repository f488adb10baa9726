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

/// Returns two records that are as far apart as the space allows (docs/proofs/sensitivity.md); dimension >=
/// 2.
std::array<RegressionRecord, 2> WorstRecords(const RegressionSpace& space);

/// Draws all releases of all steps of one silo's stream. The stream has only this record, `records` times, in
/// the first step, which enters the most releases. `noise` returns the generator of a step.
absl::Status DrawRegression(const RegressionPrefixSum& privatizer, const RegressionRecord& first,
                            const std::function<NoiseGen&(std::int64_t step)>& noise, std::span<double> view,
                            Count records = 1);

/// Returns the view without noise, with the record clipped as a mechanism of this space would clip it.
std::vector<double> RegressionCentre(const PrefixSumStrategy& strategy, const RegressionSpace& space,
                                     const RegressionRecord& first);

/// The adversary sees every release, and knows everything except which of the two records the first step has.
/// One person has `records_of_person` records there, all alike.
Target RegressionTarget(const std::string& name, const RegressionPrefixSum& privatizer,
                        const std::array<RegressionRecord, 2>& records, Count records_of_person = 1);

/// Like RegressionTarget, for the totals that a shuffler passes on. The first silo has the record. Silos
/// after the first `honest` ones add no noise.
Target ShuffledRegressionTarget(const std::string& name, const ShuffledRegressionSum& privatizer,
                                Count honest, const std::array<RegressionRecord, 2>& records);

}  // namespace bandana::audit
