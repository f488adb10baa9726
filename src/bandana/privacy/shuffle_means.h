#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "bandana/privacy/calibration/shuffle_sum.h"
#include "bandana/privacy/collusion.h"
#include "bandana/privacy/grid_mean.h"
#include "bandana/privacy/laplace_noise.h"
#include "bandana/privacy/noise_options.h"
#include "bandana/privacy/privatizer.h"

namespace bandana {

/// How a client's counts reach the analyzer. The analyzer sees the same totals either way.
enum class Transport {
  kBits,    ///< single bits, each encrypted to the analyzer: the shuffler cannot read them
  kCounts,  ///< counts that the shuffler adds up: it is trusted with nearly raw data
};

struct ShuffleSumMeanParams {
  DpGuarantee nominal;
  Calibration calibration;
  Sampler sampler;
  Transport transport;
  Collusion collusion;  ///< of a query's clients
  Count most_clients;   ///< the largest number of clients of any query
  double loss;  ///< by how much the standard deviation may exceed a trusted server's Gaussian, to send fewer
                ///< bits
};

/// Averages as sums of single bits that a shuffler mixes (Cheu, Joseph, Mao, Peng, 2022; P1, Theorem 4.6).
/// Each average becomes an integer number of levels by randomised rounding, plus binomial noise. The analyzer
/// learns the total of each coordinate and nothing else. The unit is one client's whole contribution; the
/// neighbours are replace-one (docs/proofs/shuffle-sum.md). In a dealt query each coordinate is a separate
/// sum over its own clients (P2, Algorithm 4; docs/proofs/dealt.md); Calibration::kPaper then uses the
/// constants for scalars.
class ShuffleSumMean : public Mechanism {
 public:
  using Query = MeanQuery;
  using Input = RewardSums;
  using Output = Mean;
  static constexpr bool kChargesClient = true;  // a client cannot take back what it has sent
  static constexpr bool kChargesAnalyzer = false;
  /// Fails if queries that are not dealt cannot be answered: the paper's formula for them accepts less.
  absl::Status CheckWholeQueries() const;

  static constexpr char kDealtAssumption[] =
      "this limit applies to the clients of each coordinate by themselves";

  static absl::StatusOr<ShuffleSumMean> Create(const ShuffleSumMeanParams& params);

  std::vector<Claim> claims() const;
  /// Returns a bound on what every query delivers. The tight calibration delivers what was asked for, up to
  /// the rounding of its noise to whole bits.
  DpGuarantee guarantee() const { return delivered_; }
  DpGuarantee dealt_guarantee() const { return dealt_delivered_; }  ///< for dealt queries
  DpGuarantee CostOf(const MeanQuery& query) const {
    return query.dealt.empty() ? delivered_ : dealt_delivered_;
  }

  /// Return the levels and the noise for a query, or for one part of a dealt query. They are public and the
  /// same for every role.
  absl::StatusOr<ShuffleSumSetting> SettingFor(const MeanQuery& query) const;
  absl::StatusOr<ShuffleSumSetting> SettingFor(const MeanQuery& query, int part) const;
  Transport transport() const { return params_.transport; }
  absl::StatusOr<Count> ReportBits(const MeanQuery& query) const;
  absl::StatusOr<Count> ReportBits(const MeanQuery& query, int part) const;

  absl::StatusOr<Report> Randomize(const MeanQuery& query, const Raw<RewardSums>& rewards,
                                   NoiseGen& noise) const;
  absl::StatusOr<Report> RandomizePart(const MeanQuery& query, int part, const Raw<RewardSums>& one,
                                       NoiseGen& noise) const;
  /// The rounding of a reward depends on its value. So a RewardSum of several values is accepted only if all
  /// are at one end of the interval; otherwise it fails with kUnimplemented. Both samplers need a few draws.
  absl::Status CheckGroup(const MeanQuery& query, int part, const Raw<RewardSums>& group) const;
  absl::StatusOr<Report> RandomizeGroup(const MeanQuery& query, int part, const Raw<RewardSums>& group,
                                        NoiseGen& noise) const;
  absl::StatusOr<std::vector<Report>> Mix(const MeanQuery& query, const std::vector<Report>& reports) const;
  absl::Status AddMixed(const MeanQuery& query, const std::vector<Report>& mixed, ReportSum& sum) const;

  /// Always fails: a report that no shuffler has mixed must not reach an analyzer.
  absl::Status Add(const MeanQuery& query, const Report& report, ReportSum& sum) const;
  absl::StatusOr<Sealed> Seal(const ReportSum& sum, NoiseGen& noise) const;
  absl::StatusOr<Released<Mean>> Open(const MeanQuery& query, const Sealed& sealed) const;
  /// Returns the noise laws that a release for this query will have.
  absl::StatusOr<std::vector<NoiseLaw>> Forecast(const MeanQuery& query) const;

 private:
  class Settings;
  ShuffleSumMean(const ShuffleSumMeanParams& params, std::shared_ptr<Settings> settings);
  enum class Sum { kVector, kScalar };
  absl::StatusOr<ShuffleSumSetting> Calibrate(Sum sum, Count clients, std::size_t dimension) const;
  absl::StatusOr<std::vector<ShuffleSumSetting>> SettingsOf(const MeanQuery& query) const;
  ShuffleSumMeanParams params_;
  DpGuarantee delivered_;
  DpGuarantee dealt_delivered_;
  std::shared_ptr<Settings> settings_;
};

struct ShuffledLaplaceMeanParams {
  DpGuarantee nominal;  ///< against the server
  Calibration calibration;
  Sampler sampler;
  Collusion collusion;  ///< of a query's clients
  Count most_clients;   ///< the largest number of clients of any query: the shuffler's claim is for the
                        ///< weakest local noise that can occur
};

/// Clients add Laplace noise to their own averages; the more clients there are, the less noise each adds. A
/// shuffler removes the origins of the reports and sorts them. Sorting hides their order as well as a secret
/// permutation does, and needs no secret (P2, the privatizer of Algorithm 3). The guarantee is (epsilon,
/// delta) against the server and epsilon0 against the shuffler (docs/proofs/shuffled-laplace.md). In a dealt
/// query all its clients are mixed together; then only the shuffler may know which client was dealt which
/// coordinate (docs/proofs/dealt.md).
///
/// Calibration::kPaper takes epsilon0 = f^-1(epsilon) as printed, also where the theorem behind f says
/// nothing, and Lap(1/epsilon0) for rewards in [-1, 1], whose range is 2. A report is then 2 epsilon0-LDP.
/// The claim against the server is the epsilon that follows from that, the largest over all numbers of
/// clients that a query may have.
class ShuffledLaplaceMean : public GridMean {
 public:
  static constexpr bool kChargesClient = true;
  static constexpr bool kChargesAnalyzer = false;
  static constexpr char kDealtAssumption[] = "who was dealt which coordinate is the shuffler's secret";

  static absl::StatusOr<ShuffledLaplaceMean> Create(const ShuffledLaplaceMeanParams& params);

  std::vector<Claim> claims() const;
  DpGuarantee guarantee() const { return delivered_; }

  /// Returns epsilon0, the local epsilon of each report, for a query to `clients` clients.
  absl::StatusOr<double> LocalEpsilon(Count clients) const;

  absl::StatusOr<Report> Randomize(const MeanQuery& query, const Raw<RewardSums>& rewards,
                                   NoiseGen& noise) const;
  absl::StatusOr<Report> RandomizePart(const MeanQuery& query, int part, const Raw<RewardSums>& one,
                                       NoiseGen& noise) const;
  absl::StatusOr<Report> RandomizeGroup(const MeanQuery& query, int part, const Raw<RewardSums>& group,
                                        NoiseGen& noise) const;
  absl::StatusOr<std::vector<Report>> Mix(const MeanQuery& query, std::vector<Report> reports) const;
  absl::Status AddMixed(const MeanQuery& query, const std::vector<Report>& mixed, ReportSum& sum) const;

  /// Always fails: a report that no shuffler has mixed must not reach an analyzer.
  absl::Status Add(const MeanQuery& query, const Report& report, ReportSum& sum) const;
  absl::StatusOr<Sealed> Seal(const ReportSum& sum, NoiseGen& noise) const;
  absl::StatusOr<Released<Mean>> Open(const MeanQuery& query, const Sealed& sealed) const;
  /// Returns the noise laws that a release for this query will have.
  absl::StatusOr<std::vector<NoiseLaw>> Forecast(const MeanQuery& query) const;

 private:
  class Settings;
  ShuffledLaplaceMean(const ShuffledLaplaceMeanParams& params, double most_epsilon0, DpGuarantee delivered,
                      std::shared_ptr<Settings> settings)
      : params_(params),
        most_epsilon0_(most_epsilon0),
        delivered_(delivered),
        settings_(std::move(settings)) {}
  absl::StatusOr<LaplaceNoise> NoiseFor(const MeanQuery& query) const;
  ShuffledLaplaceMeanParams params_;
  double most_epsilon0_;
  DpGuarantee delivered_;
  std::shared_ptr<Settings> settings_;
};

static_assert(ShufflePrivatizer<ShuffleSumMean> && DealingPrivatizer<ShuffleSumMean>);
static_assert(ShufflePrivatizer<ShuffledLaplaceMean> && DealingPrivatizer<ShuffledLaplaceMean>);

}  // namespace bandana
