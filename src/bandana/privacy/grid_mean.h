#pragma once

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "bandana/privacy/mechanism.h"
#include "bandana/privacy/privatizer.h"

namespace bandana {

/// An error unless averages in the query's intervals, and sums of them over its clients, fit the grid with
/// room for noise: so that nothing later fails because of what the data are. Nor if its coordinates are not
/// dealt out to its clients, each once, or its map is not one of its coordinates.
absl::Status CheckQuery(const MeanQuery& query);

/// The same, and an error too if the query is dealt: everyone is to answer all of it.
absl::Status CheckWhole(const MeanQuery& query);

/// The same of a dealt query for one of its parts: an error too if there is no such part.
absl::Status CheckPart(const MeanQuery& query, int part);

/// One client's average of a pull's rewards, inside its interval. A value that is not a number counts as the
/// interval's middle: to refuse it would tell that it was there.
double ClippedAverage(const RewardSum& rewards, const Interval& bound);

/// How many clients a crowd has; an error unless they are 1 to dealt[part]. The query has been checked.
absl::StatusOr<Count> CrowdSize(const MeanQuery& query, int part, RewardSums crowd);

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
  /// to it. With a part, which alone the client answers, its interval's length. Of a mapped query the
  /// diameter of the ball that reports are brought into.
  static double Sensitivity(const MeanQuery& query, int part = Report::kWhole);
  static double SensitivityL1(const MeanQuery& query, int part = Report::kWhole);

  /// The least whole number of units that is at least multiplier x sensitivity; an error if that is more than
  /// sums of 64 bits can hold with room to spare.
  static absl::StatusOr<std::uint64_t> NoiseUnits(double multiplier, double sensitivity);

  /// kOutOfRange unless noise of this standard deviation in units, a sum of Gaussian or Laplace terms, fits
  /// 64 bits with a probability of all but e^-80.
  static absl::Status CheckNoiseSum(double stddev);

  /// A word a coordinate.
  static absl::StatusOr<Count> ReportBits(const MeanQuery& query) { return WordBits(query); }
  static absl::StatusOr<Count> ReportBits(const MeanQuery&, int) { return kWordBits; }

  absl::Status CheckCrowd(const MeanQuery& query, int part, const Raw<RewardSums>& crowd) const {
    return CrowdOf(query, part, crowd).status();
  }

 protected:
  static constexpr Count kWordBits = 64;
  static Count WordBits(const MeanQuery& query) { return kWordBits * static_cast<Count>(query.size()); }

  /// One client's averages, each clipped to its interval, mapped if the query says so, and rounded.
  absl::StatusOr<Units> Average(const MeanQuery& query, const Raw<RewardSums>& rewards) const;

  /// One client's one reward, and the sum of a crowd's, clipped and rounded.
  absl::StatusOr<std::int64_t> PartOf(const MeanQuery& query, int part, const Raw<RewardSums>& one) const;
  struct CrowdSum {
    Count clients;
    std::int64_t units;
  };
  absl::StatusOr<CrowdSum> CrowdOf(const MeanQuery& query, int part, const Raw<RewardSums>& crowd) const;

  /// What of a report goes into a sum: with kClip each entry is brought inside its interval once more (a
  /// crowd's inside as many of them; a mapped one inside its ball), so that the sum's sensitivity does not
  /// depend on what a client sends. Not for reports that carry their own noise.
  enum class Entries { kClip, kAsSent };
  absl::Status AddEntries(const MeanQuery& query, const Report& report, Entries entries,
                          ReportSum& sum) const;

  /// The noise in one entry of a sum, before it is divided by its clients, in units.
  struct EntryNoise {
    NoiseLaw law = {};
    double mean = 0;
  };
  absl::StatusOr<Released<Mean>> MintMean(const MeanQuery& query, const Sealed& sum,
                                          absl::FunctionRef<EntryNoise(std::size_t i)> noise) const;

  /// The same in the entries of the mean.
  static std::vector<NoiseLaw> LawsOf(const MeanQuery& query,
                                      absl::FunctionRef<EntryNoise(std::size_t i)> noise);

  /// scale(part) for each coordinate of a dealt query; scale(Report::kWhole) for all of another.
  static absl::StatusOr<std::vector<std::uint64_t>> ScalesOf(
      const MeanQuery& query, absl::FunctionRef<absl::StatusOr<std::uint64_t>(int part)> scale);

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
