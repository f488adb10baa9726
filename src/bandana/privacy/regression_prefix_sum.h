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

/// What a silo has recorded, sealed: only the mechanism that it was made for reads it. The step that is open
/// is a sum; a record is in one step, and leaves nothing else behind. One of each, as SiloStream is.
class RegressionStream {
 public:
  /// `first`: a silo that deals its records out to several streams, each record to one, has the whole budget
  /// in each of them and pays once: with this stream, which must have released before. null: this is the one
  /// that pays.
  explicit RegressionStream(const RegressionPrefixSum& mechanism, const RegressionStream* first = nullptr);
  explicit RegressionStream(const ShuffledRegressionSum& mechanism);
  RegressionStream(const RegressionStream&) = delete;
  RegressionStream& operator=(const RegressionStream&) = delete;

  std::int64_t steps() const { return sums_.steps(); }        ///< that have been closed
  std::int64_t released() const { return sums_.released(); }  ///< steps
  Count open_records() const { return open_records_; }        ///< of the step that is open

 private:
  friend class RegressionPrefixSum;
  friend class StateAccess;  // saved with the silo that has it
  template <class Archive>
  void State(Archive& a) {
    a(sums_, open_records_);
    a.Sized(open_);
    a.Check([&] { return sums_.Fits(*owner_, open_.size()) && open_records_ >= 0; },
            "a stream of another mechanism");
    if constexpr (Archive::kReads) sums_.owner_ = sums_.steps_ > 0 ? owner_ : nullptr;
  }
  std::shared_ptr<const PrefixSumStrategy> owner_;
  const RegressionStream* first_;
  SiloStream sums_;
  std::vector<double> open_;     // whole units
  std::vector<double> context_;  // of one record, shortened
  Count open_records_ = 0;
};

/// What the sums without noise need to know, and the private ones, too.
struct RegressionSpace {
  std::int64_t steps;    ///< n, at most, fixed beforehand
  Count dimension;       ///< d, of x
  double context_norm;   ///< L, public; a longer x is shortened to it
  double reward_bound;   ///< B, public; y is clipped to [-B, B]
  double reward_weight;  ///< w, public: w y x is released beside x x'
};

struct RegressionParams {
  DpGuarantee nominal;  ///< of the whole stream
  Calibration calibration;
  Sampler sampler;
  PrefixSumMechanism mechanism;
  std::int64_t steps;
  Count dimension;
  double context_norm;
  double reward_bound;
  double reward_weight;

  RegressionSpace space() const { return {steps, dimension, context_norm, reward_bound, reward_weight}; }
};

/// The running sums of x x' and of y x over all records (x, y) that all silos have seen, released at every
/// step: one Gaussian mechanism over both, on SiloPrefixSum's grid. Unit: one record of one silo, in one
/// step; neighbours: replace-one; the guarantee is that of all steps together and is charged with the first
/// (docs/proofs/regression-prefix-sum.md).
class RegressionPrefixSum : public Mechanism {
 public:
  using Query = StepQuery;
  using Input = RegressionStream*;
  using Output = StepValues;
  static constexpr bool kChargesClient = true;
  static constexpr bool kChargesAnalyzer = false;

  /// Under `paper` (P3's Algorithm 2, a tree, reward_weight 1) the claim is what its noise delivers.
  static absl::StatusOr<RegressionPrefixSum> Create(const RegressionParams& params);

  /// The same sums, clipped and rounded as the private ones are, without noise. Claims nothing, charges
  /// nothing.
  static absl::StatusOr<RegressionPrefixSum> CreateBare(const RegressionSpace& space, const Declassify&);

  bool bare() const { return bare_; }
  std::vector<Claim> claims() const;
  DpGuarantee guarantee() const { return sums_.guarantee(); }
  DpGuarantee CostOf(const StepQuery& query) const { return sums_.CostOf(query); }
  absl::StatusOr<Count> ReportBits(const StepQuery& query) const { return sums_.ReportBits(query); }
  const PrefixSumStrategy& strategy() const { return sums_.strategy(); }
  const RegressionSpace& space() const { return space_; }

  /// Standard deviation of the noise of one silo in a released value; at step t an estimate's entry off the
  /// diagonal of x x' has sqrt(strategy().Variance(t)) times that.
  double noise() const;

  /// One record into the open step: x is shortened to L, y clipped to [-B, B]; what is not finite counts as
  /// 0. No allocation. x has `dimension` entries.
  void Record(std::span<const double> x, const Raw<double>& reward, RegressionStream& stream) const;

  /// Closes the open step, with however many records. kOutOfRange beyond n steps, or if it had more records
  /// than the grid holds: such a stream is at its end.
  absl::Status EndStep(RegressionStream& stream) const;

  /// The query's step must be the last one closed, and the next to be released: no step is released twice.
  absl::StatusOr<Report> Randomize(const StepQuery& query, const Raw<RegressionStream*>& stream,
                                   NoiseGen& noise) const;
  absl::Status Add(const StepQuery& query, const Report& report, BasicReportSum<StepQuery>& sum) const;
  absl::StatusOr<Sealed> Seal(const BasicReportSum<StepQuery>& sum, NoiseGen& noise) const;
  absl::StatusOr<Released<StepValues>> Open(const StepQuery& query, const Sealed& sealed) const;

  /// A silo's own reward, for its own eyes (`local = raw`): what is done with it is not covered by any claim.
  static double RevealReward(const Raw<double>& reward, const Declassify&) { return Reveal(reward); }

 private:
  friend class RegressionStream;
  friend class RegressionEstimator;
  friend class ShuffledRegressionSum;  // docs/proofs/shuffled-regression.md
  RegressionPrefixSum(const RegressionSpace& space, SiloPrefixSum sums, bool bare);
  static absl::StatusOr<RegressionPrefixSum> Make(const RegressionParams& params, double share);
  const std::shared_ptr<const PrefixSumStrategy>& owner() const { return sums_.strategy_; }
  DpGuarantee alone() const { return sums_.alone_; }
  std::size_t entries() const { return static_cast<std::size_t>(sums_.params().dimension); }

  RegressionSpace space_;
  SiloPrefixSum sums_;
  bool bare_;
};

static_assert(Privatizer<RegressionPrefixSum>);

/// Sums from what has been released: post-processing, so it costs nothing.
class RegressionEstimator {
 public:
  /// `noise`: the standard deviation of the noise in a released value over all silos, if they do not all have
  /// this mechanism's (budgets of their own, the same space and strategy).
  explicit RegressionEstimator(const RegressionPrefixSum& mechanism, std::optional<double> noise = {});
  explicit RegressionEstimator(const ShuffledRegressionSum& mechanism);

  std::int64_t step() const { return step_; }  ///< of the last release

  /// Steps come in their order.
  absl::Status Add(const Released<StepValues>& released);

  /// At the last step; there must be one.
  Released<RegressionSums> Sums() const;

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
