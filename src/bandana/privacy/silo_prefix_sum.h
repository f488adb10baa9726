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

/// Asks every silo for one step of its stream.
struct StepQuery {
  std::int64_t step = 0;  ///< from 1
  Count silos = 0;        ///< the number of silos, and also the quorum
  int group = 0;          ///< which of a silo's streams, if it deals its records out to several
  int payer = 0;          ///< the group whose first step is charged: the one that releases before all others
  bool operator==(const StepQuery&) const = default;
  template <class Archive>
  void State(Archive& a) {
    a(step, silos, group, payer);
  }
  std::string bytes() const {
    ByteString bytes;
    bytes.Add(step).Add(silos).Add(std::int64_t{group});
    if (payer != 0) bytes.Add(std::int64_t{payer});
    return bytes.Take();
  }
  bool pays() const { return step == 1 && group == payer; }
};

/// The release of one step: the strategy's values over all silos, each a vector of `dimension` entries.
struct StepValues {
  std::int64_t step = 0;
  std::vector<std::vector<double>> values;
};

/// The records of one step: vectors of the mechanism's dimension.
using StepRecords = std::span<const std::vector<double>>;

/// A silo's own data: an integer number of grid units for each step and coordinate. It is sealed: only the
/// mechanism that filled it reads it, each step once, in order. Neither copyable nor movable: two noises for
/// one step would reveal its values.
class SiloStream {
 public:
  SiloStream() = default;
  SiloStream(const SiloStream&) = delete;
  SiloStream& operator=(const SiloStream&) = delete;

  std::int64_t steps() const { return steps_; }
  std::int64_t released() const { return released_; }  ///< steps that have been released

 private:
  friend class SiloPrefixSum;
  friend class RegressionStream;
  friend class StateAccess;  // saved with the silo that owns it
  using Units = std::vector<std::int64_t>;

  template <class Archive>
  void State(Archive& a) {
    a(increments_, waiting_, latest_, steps_, records_, released_);
  }

  // Returns whether a stream of a mechanism with this strategy and dimension can have this state.
  bool Fits(const PrefixSumStrategy& strategy, std::size_t dimension) const;

  std::shared_ptr<const PrefixSumStrategy> owner_;  // the strategy of the mechanism that filled it
  std::vector<Units> increments_;                   // Toeplitz: the increments of all steps
  std::vector<Units> waiting_;  // trees: for each height, the last node that is a left child
  std::vector<Units> latest_;   // trees: the nodes that the last step completed
  std::int64_t steps_ = 0;
  std::int64_t records_ = 0;  // in all steps together
  std::int64_t released_ = 0;
};

struct SiloPrefixSumParams {
  DpGuarantee nominal;  ///< the guarantee of the whole stream
  Calibration calibration;
  Sampler sampler;
  PrefixSumMechanism mechanism;
  std::int64_t steps;            ///< n, the largest number of steps; it must be known in advance
  std::int64_t dimension;        ///< the dimension of a record
  double radius;                 ///< public; a longer record is shortened to this length
  Count records_per_person = 1;  ///< the guarantee is for so many records together
};

/// Releases, at every step, the running sum of all records of all silos (P3's privatizer). Each silo adds
/// independent Gaussian noise to linear functions of its own increments; PrefixSumEstimator turns these into
/// prefix sums. The unit is one record of one silo, in one step; the neighbours are replace-one. The
/// guarantee covers all steps together and is charged with the first (docs/proofs/silo-prefix-sum.md).
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
  DpGuarantee CostOf(const StepQuery& query) const { return query.pays() ? delivered_ : DpGuarantee{0, 0}; }
  absl::StatusOr<Count> ReportBits(const StepQuery& query) const;
  const PrefixSumStrategy& strategy() const { return *strategy_; }
  const SiloPrefixSumParams& params() const { return params_; }

  /// Appends the silo's next step. A record that is not finite counts as 0. The first step binds the stream
  /// to this mechanism.
  absl::Status Append(const Raw<StepRecords>& records, SiloStream& stream) const;

  /// Releases a step. It must be the stream's last step and the next to be released: no step is released
  /// twice, and none before the first, which is charged for all.
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

  // The properties of records that the noise depends on.
  struct RecordBounds {
    double distance;        // the largest distance of two records, before they are rounded to the grid
    double length;          // the largest length of a record
    double paper_distance;  // the distance in P3's formula
  };

  // `share` is the part of the guarantee's noise that a silo adds: all of it, none, or a share such that the
  // sum over several silos has all of it (docs/proofs/shuffled-regression.md).
  static absl::StatusOr<SiloPrefixSum> CreateFor(const SiloPrefixSumParams& params,
                                                 const RecordBounds& records, double share);

  // Appends the next step of a stream. `increment` is the sum over its records, in units.
  absl::Status AppendUnits(Units increment, std::int64_t records, SiloStream& stream) const;
  // Returns the values of a step before noise. Each step can be taken once.
  absl::StatusOr<Units> Take(const StepQuery& query, SiloStream& stream) const;
  absl::StatusOr<Report> Randomize(const StepQuery& query, SiloStream& stream, NoiseGen& noise) const;

  absl::Status CheckStep(const StepQuery& query) const;
  absl::Status CheckOwner(const SiloStream& stream) const;
  absl::Status CheckRecords(std::int64_t records, const SiloStream& stream) const;
  std::size_t EntriesAt(std::int64_t step) const;

  SiloPrefixSumParams params_;
  std::shared_ptr<const PrefixSumStrategy> strategy_;
  std::vector<std::int64_t> weights_;  // Toeplitz: the weights c_0, c_1, ... in units of 2^-60
  double longest_units_;               // the largest entry of a record on the grid
  std::uint64_t noise_units_;          // standard deviation of the noise in a released value
  DpGuarantee delivered_;
  DpGuarantee alone_;  // the guarantee by the noise of one silo alone
};

static_assert(Privatizer<SiloPrefixSum>);

/// Estimates prefix sums from the releases. This is post-processing, so it costs no privacy.
class PrefixSumEstimator {
 public:
  explicit PrefixSumEstimator(const SiloPrefixSum& mechanism) : mechanism_(&mechanism) {}

  /// Adds a release. Steps must come in order.
  absl::Status Add(const Released<StepValues>& released);

  struct Estimate {
    std::vector<double> sum;  ///< over all records of all silos so far
    NoiseLaw noise;           ///< the noise in each entry
  };
  Estimate Sum() const;

  template <class Archive>
  void State(Archive& a) {
    a(step_, proxy_, values_);
    a.Check([&] { return Fits(); }, "the releases in the sum are not those of this mechanism");
  }

 private:
  bool Fits() const;  // whether the state is one of this mechanism

  const SiloPrefixSum* mechanism_;
  std::int64_t step_ = 0;
  double proxy_ = 0;  // noise proxy of one released value
  // Toeplitz: all values. Trees: for each height, the estimate of one node.
  std::vector<std::vector<double>> values_;
};

}  // namespace bandana
