#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "bandana/core/status.h"
#include "bandana/privacy/declassify.h"
#include "bandana/privacy/gaussian_noise.h"
#include "bandana/privacy/grid_mean.h"
#include "bandana/privacy/laplace_noise.h"
#include "bandana/privacy/privatizer.h"

namespace bandana {

/// Averages with no noise, clipped and rounded as the private ones are, so that a private run whose noise is
/// zero is the same run. Claims nothing (docs/proofs/no-privacy.md).
class NoPrivacyMean : public GridMean {
 public:
  static constexpr bool kChargesClient = false;
  static constexpr bool kChargesAnalyzer = false;

  explicit NoPrivacyMean(const Declassify&) {}

  std::vector<Claim> claims() const { return {}; }
  DpGuarantee guarantee() const { return {0, 0}; }
  absl::StatusOr<Report> Randomize(const MeanQuery& query, const Raw<RewardSums>& rewards,
                                   NoiseGen& noise) const;
  absl::StatusOr<Report> RandomizePart(const MeanQuery& query, int part, const Raw<RewardSums>& one,
                                       NoiseGen& noise) const;
  absl::StatusOr<Report> RandomizeCrowd(const MeanQuery& query, int part, const Raw<RewardSums>& crowd,
                                        NoiseGen& noise) const;
  absl::Status Add(const MeanQuery& query, const Report& report, ReportSum& sum) const;
  absl::StatusOr<Sealed> Seal(const ReportSum& sum, NoiseGen& noise) const;
  absl::StatusOr<Released<Mean>> Open(const MeanQuery& query, const Sealed& sealed) const;
  /// The laws that a release to this query will carry.
  absl::StatusOr<std::vector<NoiseLaw>> Forecast(const MeanQuery& query) const;
};

/// The trusted server adds noise to the clients' sum (P1, Theorem 4.2). Unit: one client's whole
/// contribution; neighbours: replace-one; the sum's sensitivity follows from the ranges of its coordinates,
/// in the norm of the noise. To a dealt query a client gives one reward: each coordinate has noise for its
/// own range (docs/proofs/dealt.md).
template <class Noise>
class CentralMean : public GridMean {
 public:
  static constexpr bool kChargesClient = false;
  static constexpr bool kChargesAnalyzer = true;

  static absl::StatusOr<CentralMean> Create(const typename Noise::Params& params) {
    BANDANA_ASSIGN_OR_RETURN(Noise noise, Noise::Create(params));
    return CentralMean(std::move(noise));
  }

  std::vector<Claim> claims() const;
  DpGuarantee guarantee() const { return noise_.delivered(); }
  absl::StatusOr<Report> Randomize(const MeanQuery& query, const Raw<RewardSums>& rewards,
                                   NoiseGen& noise) const;
  absl::StatusOr<Report> RandomizePart(const MeanQuery& query, int part, const Raw<RewardSums>& one,
                                       NoiseGen& noise) const;
  absl::StatusOr<Report> RandomizeCrowd(const MeanQuery& query, int part, const Raw<RewardSums>& crowd,
                                        NoiseGen& noise) const;
  absl::Status Add(const MeanQuery& query, const Report& report, ReportSum& sum) const;
  absl::StatusOr<Sealed> Seal(const ReportSum& sum, NoiseGen& noise) const;
  absl::StatusOr<Released<Mean>> Open(const MeanQuery& query, const Sealed& sealed) const;
  /// The laws that a release to this query will carry.
  absl::StatusOr<std::vector<NoiseLaw>> Forecast(const MeanQuery& query) const;

 private:
  absl::StatusOr<std::vector<std::uint64_t>> Scales(const MeanQuery& query) const {
    return ScalesOf(query, [&](int part) { return noise_.Scale(query, part); });
  }

  explicit CentralMean(Noise noise) : noise_(std::move(noise)) {}
  Noise noise_;
};

/// Each client adds noise to its own averages (P1, Theorem 4.4). Unit, neighbours and sensitivity as in the
/// central model, dealt queries too, but each report is protected by itself.
template <class Noise>
class LocalMean : public GridMean {
 public:
  static constexpr bool kChargesClient = true;
  static constexpr bool kChargesAnalyzer = false;

  static absl::StatusOr<LocalMean> Create(const typename Noise::Params& params) {
    BANDANA_ASSIGN_OR_RETURN(Noise noise, Noise::Create(params));
    return LocalMean(std::move(noise));
  }

  std::vector<Claim> claims() const;
  DpGuarantee guarantee() const { return noise_.delivered(); }
  absl::StatusOr<Report> Randomize(const MeanQuery& query, const Raw<RewardSums>& rewards,
                                   NoiseGen& noise) const;
  absl::StatusOr<Report> RandomizePart(const MeanQuery& query, int part, const Raw<RewardSums>& one,
                                       NoiseGen& noise) const;
  absl::StatusOr<Report> RandomizeCrowd(const MeanQuery& query, int part, const Raw<RewardSums>& crowd,
                                        NoiseGen& noise) const;
  absl::Status Add(const MeanQuery& query, const Report& report, ReportSum& sum) const;
  absl::StatusOr<Sealed> Seal(const ReportSum& sum, NoiseGen& noise) const;
  absl::StatusOr<Released<Mean>> Open(const MeanQuery& query, const Sealed& sealed) const;
  /// The laws that a release to this query will carry.
  absl::StatusOr<std::vector<NoiseLaw>> Forecast(const MeanQuery& query) const;

 private:
  absl::StatusOr<std::vector<std::uint64_t>> Scales(const MeanQuery& query) const {
    return ScalesOf(query, [&](int part) { return noise_.Scale(query, part); });
  }

  explicit LocalMean(Noise noise) : noise_(std::move(noise)) {}
  Noise noise_;
};

extern template class CentralMean<GaussianNoise>;
extern template class CentralMean<LaplaceNoise>;
extern template class LocalMean<GaussianNoise>;
extern template class LocalMean<LaplaceNoise>;

using CentralGaussianMean = CentralMean<GaussianNoise>;  ///< docs/proofs/central-gaussian.md
using CentralLaplaceMean = CentralMean<LaplaceNoise>;    ///< docs/proofs/central-laplace.md
using LocalGaussianMean = LocalMean<GaussianNoise>;      ///< docs/proofs/local-gaussian.md
using LocalLaplaceMean = LocalMean<LaplaceNoise>;        ///< docs/proofs/local-laplace.md

static_assert(DealingPrivatizer<NoPrivacyMean>);
static_assert(DealingPrivatizer<CentralGaussianMean>);
static_assert(DealingPrivatizer<CentralLaplaceMean>);
static_assert(DealingPrivatizer<LocalGaussianMean>);
static_assert(DealingPrivatizer<LocalLaplaceMean>);

}  // namespace bandana
