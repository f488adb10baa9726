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

 protected:
  /// One client's averages, each clipped to its interval, rounded, and with noise of `stddev` units (0:
  /// none). A value that is not a number counts as the interval's middle: to refuse it would tell that it was
  /// there.
  absl::StatusOr<Report> Average(const MeanQuery& query, const Raw<RewardSums>& rewards, std::uint64_t stddev,
                                 Sampler sampler, NoiseGen& noise) const;

  /// What of a report goes into a sum: with kClip each entry is brought inside its interval once more, so
  /// that the sum's sensitivity does not depend on what a client sends. Not for reports that carry their own
  /// noise.
  enum class Entries { kClip, kAsSent };

  /// Adds a report to a sum. Refuses one of the wrong size, of nobody, of somebody who is in it, to another
  /// query than the sum's, or that would overflow.
  absl::Status AddEntries(const MeanQuery& query, const Report& report, Entries entries,
                          ReportSum& sum) const;

  /// The sum with noise of `stddev` units, once all of the query's clients have answered.
  absl::StatusOr<Sealed> NoisySum(const ReportSum& sum, std::uint64_t stddev, Sampler sampler,
                                  NoiseGen& noise) const;

  /// The query that a sum answers: the noise must be set by it and by no other.
  static const MeanQuery& QueryOf(const ReportSum& sum);

  /// `draws` is how many rounded normals are in each entry of the sum: each has mean -1/2 unit, which is put
  /// back.
  absl::StatusOr<Released<Mean>> MintMean(const MeanQuery& query, const Sealed& sum, double noise_stddev,
                                          Count draws) const;

 private:
  GridMean() = default;
  friend class NoPrivacyMean;        // docs/proofs/no-privacy.md
  friend class CentralGaussianMean;  // docs/proofs/central-gaussian.md
  friend class LocalGaussianMean;    // docs/proofs/local-gaussian.md
};

}  // namespace bandana
