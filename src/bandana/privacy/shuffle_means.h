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
/// replace-one (docs/proofs/shuffle-sum.md).
class ShuffleSumMean : public Mechanism {
 public:
  using Query = MeanQuery;
  using Input = RewardSums;
  using Output = Mean;
  static constexpr bool kChargesClient = true;  // what it sends is out of its hands
  static constexpr bool kChargesAnalyzer = false;

  static absl::StatusOr<ShuffleSumMean> Create(const ShuffleSumMeanParams& params);

  std::vector<Claim> claims() const;
  DpGuarantee guarantee() const { return params_.nominal; }

  /// Levels and noise for a query: public, and the same for every role.
  absl::StatusOr<ShuffleSumSetting> SettingFor(const MeanQuery& query) const;
  Transport transport() const { return params_.transport; }
  absl::StatusOr<Count> ReportBits(const MeanQuery& query) const;

  absl::StatusOr<Report> Randomize(const MeanQuery& query, const Raw<RewardSums>& rewards,
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
  ShuffleSumMeanParams params_;
  std::shared_ptr<Settings> settings_;
};

struct ShuffledLaplaceMeanParams {
  DpGuarantee nominal;  ///< against the server
  Sampler sampler;
  double honest_fraction;  ///< of a phase's clients: others hide nobody
  Count most_clients;      ///< of any query: the shuffler's claim is for the weakest local noise there can be
};

/// Clients add Laplace noise to their own averages, less of it the more clients there are; a shuffler
/// takes the names off the reports and sorts them, which leaves of their order as little as a secret
/// permutation does and needs no secret (P2, Algorithm 3's privatizer). (epsilon, delta) against the server,
/// epsilon0 against the shuffler (docs/proofs/shuffled-laplace.md).
class ShuffledLaplaceMean : public GridMean {
 public:
  static constexpr bool kChargesClient = true;
  static constexpr bool kChargesAnalyzer = false;

  static absl::StatusOr<ShuffledLaplaceMean> Create(const ShuffledLaplaceMeanParams& params);

  std::vector<Claim> claims() const;
  DpGuarantee guarantee() const { return params_.nominal; }

  /// epsilon0, for a query to so many clients.
  absl::StatusOr<double> LocalEpsilon(Count clients) const;

  absl::StatusOr<Report> Randomize(const MeanQuery& query, const Raw<RewardSums>& rewards,
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
  ShuffledLaplaceMean(const ShuffledLaplaceMeanParams& params, double most_epsilon0,
                      std::shared_ptr<Settings> settings)
      : params_(params), most_epsilon0_(most_epsilon0), settings_(std::move(settings)) {}
  absl::StatusOr<LaplaceNoise> NoiseFor(const MeanQuery& query) const;
  ShuffledLaplaceMeanParams params_;
  double most_epsilon0_;
  std::shared_ptr<Settings> settings_;
};

static_assert(ShufflePrivatizer<ShuffleSumMean>);
static_assert(ShufflePrivatizer<ShuffledLaplaceMean>);

}  // namespace bandana
