#pragma once

#include <span>
#include <utility>
#include <vector>

#include "bandana/privacy/collusion.h"
#include "bandana/privacy/regression_prefix_sum.h"

namespace bandana {

struct ShuffledRegressionParams {
  RegressionParams sums;  ///< the guarantee is against the server; the calibration must be tight
  Count silos;            ///< M; every silo answers every step
  Collusion collusion;    ///< of the silos
};

/// The sums of RegressionPrefixSum through a shuffler that adds up the silos' reports. The server learns the
/// totals of each step over all silos and nothing else. So all silos together need the noise of one central
/// mechanism, and each adds its share. The unit is one record of one silo, in one step; the neighbours are
/// replace-one. The guarantee covers all steps together and is charged with the first
/// (docs/proofs/shuffled-regression.md).
class ShuffledRegressionSum : public Mechanism {
 public:
  using Query = StepQuery;
  using Input = RegressionStream*;
  using Output = StepValues;
  static constexpr bool kChargesClient = true;  // a silo cannot take back what it has sent
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

  /// Returns the standard deviation of one silo's share of the noise in a released value.
  double noise() const { return sums_.noise(); }

  /// See RegressionPrefixSum.
  void Record(const ChosenArm& played, const Raw<double>& reward, RegressionStream& stream) const {
    sums_.Record(played, reward, stream);
  }
  absl::Status EndStep(RegressionStream& stream) const { return sums_.EndStep(stream); }

  absl::StatusOr<Report> Randomize(const StepQuery& query, const Raw<RegressionStream*>& stream,
                                   NoiseGen& noise) const;

  /// Returns the totals of all silos' reports.
  absl::StatusOr<std::vector<Report>> Mix(const StepQuery& query, const std::vector<Report>& reports) const;
  absl::Status AddMixed(const StepQuery& query, const std::vector<Report>& mixed,
                        BasicReportSum<StepQuery>& sum) const;

  /// Always fails: a report that no shuffler has mixed must not reach an analyzer.
  absl::Status Add(const StepQuery& query, const Report& report, BasicReportSum<StepQuery>& sum) const;
  absl::StatusOr<Sealed> Seal(const BasicReportSum<StepQuery>& sum, NoiseGen& noise) const;
  absl::StatusOr<Released<StepValues>> Open(const StepQuery& query, const Sealed& sealed) const;

 private:
  friend class RegressionStream;
  friend class RegressionEstimator;
  ShuffledRegressionSum(RegressionPrefixSum sums, Count silos, Collusion collusion)
      : sums_(std::move(sums)), silos_(silos), collusion_(collusion) {}
  absl::StatusOr<std::size_t> EntriesAt(const StepQuery& query) const;

  RegressionPrefixSum sums_;  // has one share of the noise: must not be used elsewhere
  Count silos_;
  Collusion collusion_;
};

static_assert(ShufflePrivatizer<ShuffledRegressionSum>);

}  // namespace bandana
