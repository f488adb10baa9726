#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bandana/privacy/declassify.h"
#include "bandana/privacy/regression_sums.h"
#include "bandana/privacy/silo_prefix_sum.h"

namespace bandana {

class RegressionPrefixSum;
class ShuffledRegressionSum;

/// The sealed records of a silo. Only the mechanism that it was made for reads them. The open step is kept as
/// a sum: in doubles for speed, and in integers from time to time, before doubles would round. A record is in
/// exactly one step, and nothing else of it is kept. Not copyable: a copy could release
/// the same data a second time.
class RegressionStream {
 public:
  /// A silo may deal its records out to several streams, each record to one stream. Every stream then has the
  /// whole budget, and the silo pays once, with the very first release of any of them. `first` is the first
  /// of these streams, and must outlive the others; it is null for the first itself.
  explicit RegressionStream(const RegressionPrefixSum& mechanism, RegressionStream* first = nullptr);
  explicit RegressionStream(const ShuffledRegressionSum& mechanism);
  RegressionStream(const RegressionStream&) = delete;
  RegressionStream& operator=(const RegressionStream&) = delete;

  std::int64_t steps() const { return sums_.steps(); }        ///< steps that have been closed
  std::int64_t released() const { return sums_.released(); }  ///< steps that have been released
  Count open_records() const { return open_records_; }        ///< records in the open step
  bool paid() const;  ///< whether any stream of this silo has released anything

 private:
  friend class RegressionPrefixSum;
  friend class StateAccess;  // saved with the silo that owns it
  template <class Archive>
  void State(Archive& a) {
    a(sums_, open_records_, open_doubles_);
    a.Sized(open_);
    a(open_units_);
    a.Check(
        [&] {
          return sums_.Fits(*owner_, open_.size()) && open_units_.size() == open_.size() &&
                 open_doubles_ >= 0 && open_doubles_ <= open_records_;
        },
        "the stream belongs to another mechanism");
    if constexpr (Archive::kReads) sums_.owner_ = sums_.steps_ > 0 ? owner_ : nullptr;
  }
  std::shared_ptr<const PrefixSumStrategy> owner_;
  RegressionStream* first_;
  std::vector<const RegressionStream*> others_;  // of the same silo, if this is its first stream
  SiloStream sums_;
  std::vector<double> open_;              // the last records of the open step in grid units, all integers
  std::vector<std::int64_t> open_units_;  // the records of the open step before these
  std::vector<double> context_;           // the context of one record, shortened
  Count open_records_ = 0;
  Count open_doubles_ = 0;  // how many of them are in open_
};

/// The public parameters that the sums need, with noise or without it.
struct RegressionSpace {
  std::int64_t steps;    ///< n, the largest number of steps; it must be known in advance
  Count dimension;       ///< d, the dimension of x
  double context_norm;   ///< L; a longer x is shortened to this length
  double reward_bound;   ///< B; y is clipped to [-B, B]
  double reward_weight;  ///< w: w y x is released together with x x'
};

/// A silo's record that was revealed to the silo itself. `x` is valid as long as the chosen arm is.
struct OwnRecord {
  std::span<const double> x;
  double y;
};

struct RegressionParams {
  DpGuarantee nominal;  ///< the guarantee of the whole stream
  Calibration calibration;
  Sampler sampler;
  PrefixSumMechanism mechanism;
  std::int64_t steps;
  Count dimension;
  double context_norm;
  double reward_bound;
  double reward_weight;
  Count records_per_person = 1;  ///< the guarantee is for so many records together

  RegressionSpace space() const { return {steps, dimension, context_norm, reward_bound, reward_weight}; }
};

/// Releases, at every step, the running sums of x x' and of y x over all records (x, y) of all silos. It is
/// one Gaussian mechanism over both sums, on the grid of SiloPrefixSum. The unit is one record of one silo,
/// in one step; the neighbours are replace-one. The guarantee covers all steps together and is charged with
/// the first (docs/proofs/regression-prefix-sum.md).
class RegressionPrefixSum : public Mechanism {
 public:
  using Query = StepQuery;
  using Input = RegressionStream*;
  using Output = StepValues;
  static constexpr bool kChargesClient = true;
  static constexpr bool kChargesAnalyzer = false;

  /// Under Calibration::kPaper (P3's Algorithm 2: a tree, reward_weight 1) the claim is the epsilon that its
  /// noise delivers.
  static absl::StatusOr<RegressionPrefixSum> Create(const RegressionParams& params);

  /// Makes a mechanism that releases the sums without noise, clipped and rounded like the private ones. It
  /// claims nothing and charges nothing.
  static absl::StatusOr<RegressionPrefixSum> CreateBare(const RegressionSpace& space, const Declassify&);

  bool bare() const { return bare_; }
  std::vector<Claim> claims() const;
  DpGuarantee guarantee() const { return sums_.guarantee(); }
  DpGuarantee CostOf(const StepQuery& query) const { return sums_.CostOf(query); }
  absl::StatusOr<Count> ReportBits(const StepQuery& query) const { return sums_.ReportBits(query); }
  const PrefixSumStrategy& strategy() const { return sums_.strategy(); }
  const RegressionSpace& space() const { return space_; }

  /// Returns the standard deviation of one silo's noise in a released value. At step t an entry of the
  /// estimate of x x' off the diagonal has sqrt(strategy().Variance(t)) times that.
  double noise() const;

  /// Adds one record (x, y) to the open step: the vector of the arm that was played, and its reward. x has
  /// `dimension` entries and is shortened to L; y is clipped to [-B, B]. A value that is not finite counts as
  /// 0. Does not allocate.
  void Record(const ChosenArm& played, const Raw<double>& reward, RegressionStream& stream) const;

  /// Closes the open step. It may have any number of records. Fails with kOutOfRange beyond n steps, or if
  /// the stream has more records than the grid holds (2^30 of length 1); it then takes no further steps.
  absl::Status EndStep(RegressionStream& stream) const;

  /// Releases a step. It must be the last one closed and the next to be released: no step is released twice.
  /// The query must say that it pays if and only if no stream of the silo has released anything yet.
  absl::StatusOr<Report> Randomize(const StepQuery& query, const Raw<RegressionStream*>& stream,
                                   NoiseGen& noise) const;
  absl::Status Add(const StepQuery& query, const Report& report, BasicReportSum<StepQuery>& sum) const;
  absl::StatusOr<Sealed> Seal(const BasicReportSum<StepQuery>& sum, NoiseGen& noise) const;
  absl::StatusOr<Released<StepValues>> Open(const StepQuery& query, const Sealed& sealed) const;

  /// Returns a silo's own record, for the silo alone (`local = raw`). No claim covers what is done with it.
  static OwnRecord RevealRecord(const ChosenArm& played, const Raw<double>& reward, const Declassify&) {
    return {RevealContext(played), Reveal(reward)};
  }

 private:
  friend class RegressionStream;
  friend class RegressionEstimator;
  friend class ShuffledRegressionSum;  // docs/proofs/shuffled-regression.md
  RegressionPrefixSum(const RegressionSpace& space, SiloPrefixSum sums, bool bare);
  static absl::StatusOr<RegressionPrefixSum> Make(const RegressionParams& params, double share);
  const std::shared_ptr<const PrefixSumStrategy>& owner() const { return sums_.strategy_; }
  DpGuarantee alone() const { return sums_.alone_; }
  std::size_t entries() const { return static_cast<std::size_t>(sums_.params().dimension); }
  static void MoveToUnits(RegressionStream& stream);  // what the doubles of the open step hold

  RegressionSpace space_;
  SiloPrefixSum sums_;
  bool bare_;
  Count most_doubles_;  // records that doubles add up exactly
};

static_assert(Privatizer<RegressionPrefixSum>);

/// Estimates the sums from the releases. This is post-processing, so it costs no privacy.
class RegressionEstimator {
 public:
  /// `noise` is the standard deviation of the noise in a released value over all silos. It is needed if some
  /// silos have budgets of their own, and so other noise than this mechanism's; space and strategy must be
  /// the same.
  explicit RegressionEstimator(const RegressionPrefixSum& mechanism, std::optional<double> noise = {});
  explicit RegressionEstimator(const ShuffledRegressionSum& mechanism);

  std::int64_t step() const { return step_; }  ///< the step of the last release

  /// Adds a release. Steps must come in order.
  absl::Status Add(const Released<StepValues>& released);

  /// Returns the sums at the last step. There must have been a release.
  Released<RegressionSums> Sums() const;

  /// Returns the sums over several silos, each with an estimator of its own and at a step of its own. All
  /// must have had a release. The step is the largest of them.
  static Released<RegressionSums> Total(std::span<const RegressionEstimator* const> silos);

  template <class Archive>
  void State(Archive& a) {
    a(step_, estimator_);
  }

 private:
  const RegressionPrefixSum* mechanism_;
  PrefixSumEstimator estimator_;
  std::optional<double> noise_;
  std::int64_t step_ = 0;
};

}  // namespace bandana
