#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "bandana/privacy/calibration/shuffle_sum.h"
#include "bandana/privacy/grid_mean.h"
#include "bandana/privacy/laplace_noise.h"
#include "bandana/privacy/noise_options.h"
#include "bandana/privacy/privatizer.h"

namespace bandana {

/// How a client's counts reach the analyzer. The analyzer sees the same totals either way.
enum class Transport {
  kBits,    ///< single bits, each encrypted to the analyzer: the shuffler sees nothing
  kCounts,  ///< counts, added up by the shuffler, which is trusted with nearly raw data
};

struct ShuffleSumMeanParams {
  DpGuarantee nominal;
  Calibration calibration;
  Sampler sampler;
  Transport transport;
  double honest_fraction;  ///< of a phase's clients: only their noise counts
  double loss;             ///< standard deviation allowed above a trusted server's Gaussian, for fewer bits
};

/// Averages as sums of single bits that a shuffler mixes (Cheu, Joseph, Mao, Peng, 2022; P1, Theorem 4.6).
/// Each average becomes a whole number of levels by randomised rounding, plus binomial noise; the analyzer
/// learns each coordinate's total and nothing else. Unit: one client's whole contribution; neighbours:
/// replace-one (docs/proofs/shuffle-sum.md). In a dealt query each coordinate is a sum of its own, among its
/// own clients (P2, Algorithm 4; docs/proofs/dealt.md); `paper` then has the constants for scalars.
class ShuffleSumMean : public Mechanism {
 public:
  using Query = MeanQuery;
  using Input = RewardSums;
  using Output = Mean;
  static constexpr bool kChargesClient = true;  // what it sends is out of its hands
  static constexpr bool kChargesAnalyzer = false;
  static constexpr char kDealtAssumption[] = "so many of those who answer each coordinate";

  static absl::StatusOr<ShuffleSumMean> Create(const ShuffleSumMeanParams& params);

  std::vector<Claim> claims() const;
  DpGuarantee guarantee() const { return params_.nominal; }

  /// Levels and noise for a query, or for one part of a dealt one: public, and the same for every role.
  absl::StatusOr<ShuffleSumSetting> SettingFor(const MeanQuery& query) const;
  absl::StatusOr<ShuffleSumSetting> SettingFor(const MeanQuery& query, int part) const;
  Transport transport() const { return params_.transport; }
  absl::StatusOr<Count> ReportBits(const MeanQuery& query) const;
  absl::StatusOr<Count> ReportBits(const MeanQuery& query, int part) const;

  absl::StatusOr<Report> Randomize(const MeanQuery& query, const Raw<RewardSums>& rewards,
                                   NoiseGen& noise) const;
  absl::StatusOr<Report> RandomizePart(const MeanQuery& query, int part, const Raw<RewardSums>& one,
                                       NoiseGen& noise) const;
  /// How a reward is rounded depends on it, so a sum of several values is taken only if all are at one end of
  /// the interval: kUnimplemented otherwise. A few draws with either sampler.
  absl::Status CheckCrowd(const MeanQuery& query, int part, const Raw<RewardSums>& crowd) const;
  absl::StatusOr<Report> RandomizeCrowd(const MeanQuery& query, int part, const Raw<RewardSums>& crowd,
                                        NoiseGen& noise) const;
  absl::StatusOr<std::vector<Report>> Mix(const MeanQuery& query, const std::vector<Report>& reports) const;
  absl::Status AddMixed(const MeanQuery& query, const std::vector<Report>& mixed, ReportSum& sum) const;

  /// An error: a report that no shuffler has mixed must not reach an analyzer.
  absl::Status Add(const MeanQuery& query, const Report& report, ReportSum& sum) const;
  absl::StatusOr<Sealed> Seal(const ReportSum& sum, NoiseGen& noise) const;
  absl::StatusOr<Released<Mean>> Open(const MeanQuery& query, const Sealed& sealed) const;
  /// The laws that a release to this query will carry.
  absl::StatusOr<std::vector<NoiseLaw>> Forecast(const MeanQuery& query) const;

 private:
  class Settings;
  ShuffleSumMean(const ShuffleSumMeanParams& params, std::shared_ptr<Settings> settings)
      : params_(params), settings_(std::move(settings)) {}
  enum class Sum { kVector, kScalar };
  absl::StatusOr<ShuffleSumSetting> Calibrate(Sum sum, Count clients, std::size_t dimension) const;
  absl::StatusOr<std::vector<ShuffleSumSetting>> SettingsOf(const MeanQuery& query) const;
  ShuffleSumMeanParams params_;
  std::shared_ptr<Settings> settings_;
};

struct ShuffledLaplaceMeanParams {
  DpGuarantee nominal;  ///< against the server
  Calibration calibration;
  Sampler sampler;
  double honest_fraction;  ///< of a phase's clients: others hide nobody
  Count most_clients;      ///< of any query: the shuffler's claim is for the weakest local noise there can be
};

/// Clients add Laplace noise to their own averages, less of it the more clients there are; a shuffler
/// takes the names off the reports and sorts them, which leaves of their order as little as a secret
/// permutation does and needs no secret (P2, Algorithm 3's privatizer). (epsilon, delta) against the server,
/// epsilon0 against the shuffler (docs/proofs/shuffled-laplace.md). In a dealt query all its clients are
/// mixed, which needs that nobody but the shuffler knows who was dealt what (docs/proofs/dealt.md).
///
/// `paper` takes epsilon0 from the closed form and Lap(1/epsilon0) for rewards in [-1, 1], whose range is 2:
/// a report is then 2 epsilon0-LDP, and the claims say what is left of that among the fewest clients that
/// any query may have.
class ShuffledLaplaceMean : public GridMean {
 public:
  static constexpr bool kChargesClient = true;
  static constexpr bool kChargesAnalyzer = false;
  static constexpr char kDealtAssumption[] = "who was dealt which coordinate is the shuffler's secret";

  static absl::StatusOr<ShuffledLaplaceMean> Create(const ShuffledLaplaceMeanParams& params);

  std::vector<Claim> claims() const;
  DpGuarantee guarantee() const { return delivered_; }

  /// epsilon0, for a query to so many clients.
  absl::StatusOr<double> LocalEpsilon(Count clients) const;

  absl::StatusOr<Report> Randomize(const MeanQuery& query, const Raw<RewardSums>& rewards,
                                   NoiseGen& noise) const;
  absl::StatusOr<Report> RandomizePart(const MeanQuery& query, int part, const Raw<RewardSums>& one,
                                       NoiseGen& noise) const;
  absl::StatusOr<Report> RandomizeCrowd(const MeanQuery& query, int part, const Raw<RewardSums>& crowd,
                                        NoiseGen& noise) const;
  absl::StatusOr<std::vector<Report>> Mix(const MeanQuery& query, std::vector<Report> reports) const;
  absl::Status AddMixed(const MeanQuery& query, const std::vector<Report>& mixed, ReportSum& sum) const;

  /// An error: a report that no shuffler has mixed must not reach an analyzer.
  absl::Status Add(const MeanQuery& query, const Report& report, ReportSum& sum) const;
  absl::StatusOr<Sealed> Seal(const ReportSum& sum, NoiseGen& noise) const;
  absl::StatusOr<Released<Mean>> Open(const MeanQuery& query, const Sealed& sealed) const;
  /// The laws that a release to this query will carry.
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
