#pragma once

#include <cstdint>
#include <vector>

#include "bandana/privacy/gaussian_params.h"
#include "bandana/privacy/privatizer.h"

namespace bandana {

/// Averages as whole units of 2^-30: what the mean mechanisms share. Raw data pass through here, so only the
/// mechanisms with a proof note, its friends, can have one.
class GridMean {
 public:
  using Query = MeanQuery;
  using Input = RewardSums;
  using Output = Mean;

  static constexpr double kUnit = 1.0 / (1 << 30);

  /// The most that replacing one client can move the sum of clipped and rounded averages, in units, in l2.
  /// The ends of an interval are rounded outwards to the grid, so rounding a value inside never adds to it.
  static double Sensitivity(const MeanQuery& query);

  /// The least whole number of units that is at least multiplier x sensitivity; an error if that is more than
  /// sums of 64 bits can hold with room to spare.
  static absl::StatusOr<std::uint64_t> NoiseUnits(double multiplier, const MeanQuery& query);

  /// Adds a report to a sum; refuses one of the wrong size, or a sum that would overflow.
  absl::Status Add(const MeanQuery& query, const Report& report, ReportSum& sum) const;

 protected:
  /// One client's averages, each clipped to its interval, rounded, and with noise of `stddev` units (0:
  /// none). A value that is not a number counts as the interval's middle: to refuse it would tell that it was
  /// there.
  Report Average(const MeanQuery& query, const Raw<RewardSums>& rewards, std::uint64_t stddev,
                 Sampler sampler, NoiseGen& noise) const;

  /// The sum with noise of `stddev` units, once all of the query's clients have answered.
  absl::StatusOr<Report> NoisySum(const MeanQuery& query, const ReportSum& sum, std::uint64_t stddev,
                                  Sampler sampler, NoiseGen& noise) const;

  /// `draws` is how many rounded normals are in each entry of the sum: each has mean -1/2 unit, which is put
  /// back.
  absl::StatusOr<Released<Mean>> Release(const MeanQuery& query, const Report& sum, double noise_stddev,
                                         Count draws) const;

 private:
  GridMean() = default;
  friend class NoPrivacyMean;        // docs/proofs/no-privacy.md
  friend class CentralGaussianMean;  // docs/proofs/central-gaussian.md
  friend class LocalGaussianMean;    // docs/proofs/local-gaussian.md
};

}  // namespace bandana
