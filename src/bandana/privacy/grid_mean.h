#pragma once

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "bandana/privacy/mechanism.h"
#include "bandana/privacy/privatizer.h"

namespace bandana {

/// An error unless averages in the query's intervals, and sums of them over its clients, fit the grid with
/// room for noise: so that nothing later fails because of what the data are.
absl::Status CheckQuery(const MeanQuery& query);

/// One client's average of a pull's rewards, inside its interval. A value that is not a number counts as the
/// interval's middle: to refuse it would tell that it was there.
double ClippedAverage(const RewardSum& rewards, const Interval& bound);

/// Averages as whole units of 2^-30: what the mean mechanisms with noise on a grid share. Raw data pass
/// through here, so only the mechanisms with a proof note, its friends, can have one.
class GridMean : public Mechanism {
 public:
  using Query = MeanQuery;
  using Input = RewardSums;
  using Output = Mean;

  static constexpr double kUnit = 1.0 / (1 << 30);

  /// The most that replacing one client can move the sum of clipped and rounded averages, in units, in l2 and
  /// in l1. The ends of an interval are rounded outwards to the grid, so rounding a value inside never adds
  /// to it.
  static double Sensitivity(const MeanQuery& query);
  static double SensitivityL1(const MeanQuery& query);

  /// The least whole number of units that is at least multiplier x sensitivity; an error if that is more than
  /// sums of 64 bits can hold with room to spare.
  static absl::StatusOr<std::uint64_t> NoiseUnits(double multiplier, double sensitivity);

  /// A word a coordinate.
  static absl::StatusOr<Count> ReportBits(const MeanQuery& query) { return WordBits(query); }

 protected:
  static Count WordBits(const MeanQuery& query) { return static_cast<Count>(64 * query.bounds.size()); }

  /// One client's averages, each clipped to its interval and rounded.
  absl::StatusOr<Units> Average(const MeanQuery& query, const Raw<RewardSums>& rewards) const;

  /// What of a report goes into a sum: with kClip each entry is brought inside its interval once more, so
  /// that the sum's sensitivity does not depend on what a client sends. Not for reports that carry their own
  /// noise.
  enum class Entries { kClip, kAsSent };
  absl::Status AddEntries(const MeanQuery& query, const Report& report, Entries entries,
                          ReportSum& sum) const;

  /// The mean of a sum in which every entry has noise of this law (before it is divided by the clients) and
  /// of this mean, both in units.
  absl::StatusOr<Released<Mean>> MintMean(const MeanQuery& query, const Sealed& sum, const NoiseLaw& law,
                                          double noise_mean) const;

 private:
  GridMean() = default;
  friend class NoPrivacyMean;  // docs/proofs/no-privacy.md
  template <class Noise>
  friend class CentralMean;  // docs/proofs/central-gaussian.md, central-laplace.md
  template <class Noise>
  friend class LocalMean;            // docs/proofs/local-gaussian.md, local-laplace.md
  friend class ShuffledLaplaceMean;  // docs/proofs/shuffled-laplace.md
};

}  // namespace bandana
