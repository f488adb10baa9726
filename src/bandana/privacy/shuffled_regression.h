#pragma once

#include <span>
#include <utility>
#include <vector>

#include "bandana/privacy/regression_prefix_sum.h"

namespace bandana {

struct ShuffledRegressionParams {
  RegressionParams sums;   ///< the guarantee is against the server; calibration tight
  Count silos;             ///< M, all of which answer every step
  double honest_fraction;  ///< of the silos, in (0, 1]: only their noise counts
};

/// RegressionPrefixSum's sums through a shuffler that adds the silos' reports up: the server learns each
/// step's totals over all silos and nothing else, so the silos need the noise of one central mechanism
/// between them, of which each adds its share. Unit: one record of one silo, in one step; neighbours:
/// replace-one; the guarantee is that of all steps together and is charged with the first
/// (docs/proofs/shuffled-regression.md).
class ShuffledRegressionSum : public Mechanism {
 public:
  using Query = StepQuery;
  using Input = RegressionStream*;
  using Output = StepValues;
  static constexpr bool kChargesClient = true;  // what it sends is out of its hands
  static constexpr bool kChargesAnalyzer = false;

  static absl::StatusOr<ShuffledRegressionSum> Create(const ShuffledRegressionParams& params);

  std::vector<Claim> claims() const;
  DpGuarantee guarantee() const { return sums_.guarantee(); }  ///< against the server
  DpGuarantee alone() const { return sums_.alone(); }          ///< against the shuffler
  DpGuarantee CostOf(const StepQuery& query) const { return sums_.CostOf(query); }
  absl::StatusOr<Count> ReportBits(const StepQuery& query) const;
  const PrefixSumStrategy& strategy() const { return sums_.strategy(); }
  const RegressionSpace& space() const { return sums_.space(); }
  Count silos() const { return silos_; }

  /// Standard deviation of one silo's share of the noise in a released value.
  double noise() const { return sums_.noise(); }

  /// As RegressionPrefixSum's.
  void Record(std::span<const double> x, const Raw<double>& reward, RegressionStream& stream) const {
    sums_.Record(x, reward, stream);
  }
  absl::Status EndStep(RegressionStream& stream) const { return sums_.EndStep(stream); }

  absl::StatusOr<Report> Randomize(const StepQuery& query, const Raw<RegressionStream*>& stream,
                                   NoiseGen& noise) const;

  /// The totals of all silos' reports.
  absl::StatusOr<std::vector<Report>> Mix(const StepQuery& query, const std::vector<Report>& reports) const;
  absl::Status AddMixed(const StepQuery& query, const std::vector<Report>& mixed,
                        BasicReportSum<StepQuery>& sum) const;

  /// An error: a report that no shuffler has mixed must not reach an analyzer.
  absl::Status Add(const StepQuery& query, const Report& report, BasicReportSum<StepQuery>& sum) const;
  absl::StatusOr<Sealed> Seal(const BasicReportSum<StepQuery>& sum, NoiseGen& noise) const;
  absl::StatusOr<Released<StepValues>> Open(const StepQuery& query, const Sealed& sealed) const;

 private:
  friend class RegressionStream;
  friend class RegressionEstimator;
  ShuffledRegressionSum(RegressionPrefixSum sums, Count silos, double honest_fraction)
      : sums_(std::move(sums)), silos_(silos), honest_fraction_(honest_fraction) {}
  absl::StatusOr<std::size_t> EntriesAt(const StepQuery& query) const;

  RegressionPrefixSum sums_;  // with a share of the noise: not for anyone else
  Count silos_;
  double honest_fraction_;
};

static_assert(ShufflePrivatizer<ShuffledRegressionSum>);

}  // namespace bandana
