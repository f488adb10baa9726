#pragma once

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "bandana/privacy/mechanism.h"
#include "bandana/privacy/privatizer.h"

namespace bandana {

/// Fails if averages in the query's intervals, or their sums over its clients, do not fit the grid with room
/// for noise. After this check nothing fails because of the data. Also fails if the query is dealt but
/// `dealt` does not assign exactly one coordinate to every client, or if the map does not fit the
/// coordinates.
absl::Status CheckQuery(const MeanQuery& query);

/// Checks the query, and fails also if it is dealt. It is for calls in which every client answers all
/// coordinates.
absl::Status CheckWhole(const MeanQuery& query);

/// Checks a dealt query for the call on one of its parts. Fails also if there is no such part.
absl::Status CheckPart(const MeanQuery& query, int part);

/// Returns one client's average of a pull's rewards, clipped to its interval. NaN counts as the middle of the
/// interval: an error would reveal that the value was there.
double ClippedAverage(const RewardSum& rewards, const Interval& bound);

/// Returns the numbers that a client reports to a mapped query, before they are rounded: the map of its
/// clipped averages' distances from the middles of their intervals.
std::vector<double> MappedAverages(const MeanQuery& query, RewardSums sums);

/// Returns how many clients a group has. A group is a group of simulated clients whose reports are drawn as
/// one sum. Fails unless it has 1 to dealt[part] clients. The query must have been checked.
absl::StatusOr<Count> GroupSize(const MeanQuery& query, int part, RewardSums group);

/// The base of the mean mechanisms with noise on a grid: averages are integers, in units of 2^-30. Raw data
/// pass through here, so only its friends, the mechanisms with a proof note, can derive from it.
class GridMean : public Mechanism {
 public:
  using Query = MeanQuery;
  using Input = RewardSums;
  using Output = Mean;

  static constexpr double kUnit = 1.0 / (1 << 30);

  /// Returns the largest distance, in units, that replacing one client can move the sum of clipped and
  /// rounded averages, in l2 and in l1. The ends of an interval are rounded outwards to the grid, so rounding
  /// a value inside never adds to it. With a part, the client answers this part only, and the result is the
  /// length of its interval. For a mapped query the result comes from the diameter of the ball that reports
  /// are clipped to.
  static double Sensitivity(const MeanQuery& query, int part = Report::kWhole);
  static double SensitivityL1(const MeanQuery& query, int part = Report::kWhole);

  /// Returns the smallest integer number of units that is at least multiplier x sensitivity. Fails if it is
  /// more than sums of 64 bits can hold with room to spare.
  static absl::StatusOr<std::uint64_t> NoiseUnits(double multiplier, double sensitivity);

  /// Fails with kOutOfRange unless noise of this standard deviation, in units, fits 64 bits with probability
  /// at least 1 - e^-80. The noise is a sum of Gaussian or Laplace terms.
  static absl::Status CheckNoiseSum(double stddev);

  /// A report takes one word per coordinate.
  static absl::StatusOr<Count> ReportBits(const MeanQuery& query) { return WordBits(query); }
  static absl::StatusOr<Count> ReportBits(const MeanQuery&, int) { return kWordBits; }

  absl::Status CheckGroup(const MeanQuery& query, int part, const Raw<RewardSums>& group) const {
    return GroupOf(query, part, group).status();
  }

 protected:
  static constexpr Count kWordBits = 64;
  static Count WordBits(const MeanQuery& query) { return kWordBits * static_cast<Count>(query.size()); }

  /// Returns one client's averages: each is clipped to its interval, then they are mapped if the query has a
  /// map, and rounded.
  absl::StatusOr<Units> Average(const MeanQuery& query, const Raw<RewardSums>& rewards) const;

  /// PartOf returns one client's one reward, clipped and rounded. GroupOf returns the sum over a group.
  absl::StatusOr<std::int64_t> PartOf(const MeanQuery& query, int part, const Raw<RewardSums>& one) const;
  struct GroupSum {
    Count clients;
    std::int64_t units;
  };
  absl::StatusOr<GroupSum> GroupOf(const MeanQuery& query, int part, const Raw<RewardSums>& group) const;

  /// Adds a report to a sum. With kClip the entries are clipped again, so that the sum's sensitivity does not
  /// depend on what a client sends: to the interval, to the interval times the number of clients (a group),
  /// or to the ball (a mapped query). kAsSent is for reports that carry their own noise.
  enum class Entries { kClip, kAsSent };
  absl::Status AddEntries(const MeanQuery& query, const Report& report, Entries entries,
                          ReportSum& sum) const;

  /// The noise in one entry of a sum, in units, before the division by the number of clients.
  struct EntryNoise {
    NoiseLaw law = {};
    double mean = 0;
  };
  absl::StatusOr<Released<Mean>> MintMean(const MeanQuery& query, const Sealed& sum,
                                          absl::FunctionRef<EntryNoise(std::size_t i)> noise) const;

  /// Returns the noise in each entry of the mean.
  static std::vector<NoiseLaw> LawsOf(const MeanQuery& query,
                                      absl::FunctionRef<EntryNoise(std::size_t i)> noise);

  /// Returns scale(part) for each coordinate of a dealt query. For any other query all coordinates have
  /// scale(Report::kWhole).
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
