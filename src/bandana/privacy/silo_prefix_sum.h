#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "bandana/privacy/calibration/prefix_sum.h"
#include "bandana/privacy/mechanism.h"
#include "bandana/privacy/noise_options.h"
#include "bandana/privacy/privatizer.h"

namespace bandana {

/// One step of the stream, asked of every silo.
struct StepQuery {
  std::int64_t step = 0;  ///< from 1
  Count silos = 0;        ///< and the quorum
  int group = 0;          ///< which of a silo's streams, if it deals its records out to several
  bool operator==(const StepQuery&) const = default;
  template <class Archive>
  void State(Archive& a) {
    a(step, silos, group);
  }
  std::string bytes() const { return ByteString().Add(step).Add(silos).Add(std::int64_t{group}).Take(); }
};

/// What is released at one step: the strategy's values, a vector of `dimension` entries each, over all silos.
struct StepValues {
  std::int64_t step = 0;
  std::vector<std::vector<double>> values;
};

/// Records of one step as they come in: vectors of the mechanism's dimension.
using StepRecords = std::span<const std::vector<double>>;

/// A silo's own data, a whole number of grid units a step and coordinate, sealed: only the mechanism that
/// filled it reads it, each step once, from the first on. There is one of each, so it cannot be copied or
/// moved: two noises for one step would give its values away.
class SiloStream {
 public:
  SiloStream() = default;
  SiloStream(const SiloStream&) = delete;
  SiloStream& operator=(const SiloStream&) = delete;

  std::int64_t steps() const { return steps_; }
  std::int64_t released() const { return released_; }  ///< steps

 private:
  friend class SiloPrefixSum;
  friend class RegressionStream;
  friend class StateAccess;  // saved with the silo that has it
  using Units = std::vector<std::int64_t>;

  template <class Archive>
  void State(Archive& a) {
    a(increments_, waiting_, latest_, steps_, records_, released_);
  }

  // That a stream of such a mechanism may be so.
  bool Fits(const PrefixSumStrategy& strategy, std::size_t dimension) const;

  std::shared_ptr<const PrefixSumStrategy> owner_;  // of the mechanism that filled it
  std::vector<Units> increments_;                   // Toeplitz: of all steps
  std::vector<Units> waiting_;                      // trees: by height, the last node that is a left child
  std::vector<Units> latest_;                       // trees: the nodes that the last step completed
  std::int64_t steps_ = 0;
  std::int64_t records_ = 0;  // in all steps
  std::int64_t released_ = 0;
};

struct SiloPrefixSumParams {
  DpGuarantee nominal;  ///< of the whole stream
  Calibration calibration;
  Sampler sampler;
  PrefixSumMechanism mechanism;
  std::int64_t steps;      ///< n, at most, fixed beforehand
  std::int64_t dimension;  ///< of a record
  double radius;           ///< public; a longer record is shortened to it
};

/// The running sum of all records that all silos have seen, released at every step (P3's privatizer). Each
/// silo adds white Gaussian noise to linear functionals of its own increments; PrefixSumEstimator makes
/// prefix sums of them. Unit: one record of one silo, in one step; neighbours: replace-one; the guarantee is
/// that of all steps together and is charged with the first (docs/proofs/silo-prefix-sum.md).
class SiloPrefixSum : public Mechanism {
 public:
  using Query = StepQuery;
  using Input = SiloStream*;
  using Output = StepValues;
  static constexpr bool kChargesClient = true;
  static constexpr bool kChargesAnalyzer = false;
  static constexpr double kUnit = 1.0 / (1 << 30);

  static absl::StatusOr<SiloPrefixSum> Create(const SiloPrefixSumParams& params);

  std::vector<Claim> claims() const;
  DpGuarantee guarantee() const { return delivered_; }
  DpGuarantee CostOf(const StepQuery& query) const {
    return query.step == 1 && query.group == 0 ? delivered_ : DpGuarantee{0, 0};
  }
  absl::StatusOr<Count> ReportBits(const StepQuery& query) const;
  const PrefixSumStrategy& strategy() const { return *strategy_; }
  const SiloPrefixSumParams& params() const { return params_; }

  /// The silo's next step. A record that is not finite counts as 0. The first one makes the stream this
  /// mechanism's.
  absl::Status Append(const Raw<StepRecords>& records, SiloStream& stream) const;

  /// The query's step must be the stream's last one, and the next to be released: no step is released twice,
  /// and none before the first, which is charged for all.
  absl::StatusOr<Report> Randomize(const StepQuery& query, const Raw<SiloStream*>& stream,
                                   NoiseGen& noise) const;
  absl::Status Add(const StepQuery& query, const Report& report, BasicReportSum<StepQuery>& sum) const;
  absl::StatusOr<Sealed> Seal(const BasicReportSum<StepQuery>& sum, NoiseGen& noise) const;
  absl::StatusOr<Released<StepValues>> Open(const StepQuery& query, const Sealed& sealed) const;

 private:
  SiloPrefixSum(const SiloPrefixSumParams& params, std::shared_ptr<const PrefixSumStrategy> strategy,
                std::vector<std::int64_t> weights, double longest_units, std::uint64_t noise_units,
                DpGuarantee delivered, DpGuarantee alone)
      : params_(params),
        strategy_(std::move(strategy)),
        weights_(std::move(weights)),
        longest_units_(longest_units),
        noise_units_(noise_units),
        delivered_(delivered),
        alone_(alone) {}
  friend class RegressionPrefixSum;  // docs/proofs/regression-prefix-sum.md

  // The records that a stream takes, as far as the noise depends on them.
  struct RecordBounds {
    double distance;        // of two records at most, before they are rounded to the grid
    double length;          // of one
    double paper_distance;  // what P3's formula has for it
  };

  // How much of the guarantee's noise a silo adds: all, none, or a share so that the sum of several silos has
  // it (docs/proofs/shuffled-regression.md).
  static absl::StatusOr<SiloPrefixSum> CreateFor(const SiloPrefixSumParams& params,
                                                 const RecordBounds& records, double share);

  // The next step of a stream, already added up: whole numbers of units.
  absl::Status AppendUnits(std::span<const double> increment, std::int64_t records, SiloStream& stream) const;
  // The values of a step before noise, once.
  absl::StatusOr<Units> Take(const StepQuery& query, SiloStream& stream) const;
  absl::StatusOr<Report> Randomize(const StepQuery& query, SiloStream& stream, NoiseGen& noise) const;

  absl::Status CheckStep(const StepQuery& query) const;
  absl::Status CheckOwner(const SiloStream& stream) const;
  absl::Status CheckRecords(std::int64_t records, const SiloStream& stream) const;
  std::size_t EntriesAt(std::int64_t step) const;

  SiloPrefixSumParams params_;
  std::shared_ptr<const PrefixSumStrategy> strategy_;
  std::vector<std::int64_t> weights_;  // Toeplitz: c_0, c_1, ... in units of 2^-60
  double longest_units_;               // a record's entry on the grid at most
  std::uint64_t noise_units_;          // standard deviation of a released value
  DpGuarantee delivered_;
  DpGuarantee alone_;  // by one silo's noise
};

static_assert(Privatizer<SiloPrefixSum>);

/// Prefix sums from what has been released: post-processing, so it costs nothing.
class PrefixSumEstimator {
 public:
  explicit PrefixSumEstimator(const SiloPrefixSum& mechanism) : mechanism_(&mechanism) {}

  /// Steps come in their order.
  absl::Status Add(const Released<StepValues>& released);

  struct Estimate {
    std::vector<double> sum;  ///< over all records of all silos so far
    NoiseLaw noise;           ///< of each entry
  };
  Estimate Sum() const;

  template <class Archive>
  void State(Archive& a) {
    a(step_, proxy_, values_);
    a.Check([&] { return Fits(); }, "a sum of other releases");
  }

 private:
  bool Fits() const;  // to the mechanism

  const SiloPrefixSum* mechanism_;
  std::int64_t step_ = 0;
  double proxy_ = 0;                         // of one value
  std::vector<std::vector<double>> values_;  // Toeplitz: all; trees: the estimate of a node of each height
};

}  // namespace bandana
