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

/// Averages without noise, clipped and rounded like the private ones, so that a private run whose noise is
/// zero is the same run. It claims nothing (docs/proofs/no-privacy.md).
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
  absl::StatusOr<Report> RandomizeGroup(const MeanQuery& query, int part, const Raw<RewardSums>& group,
                                        NoiseGen& noise) const;
  absl::Status Add(const MeanQuery& query, const Report& report, ReportSum& sum) const;
  absl::StatusOr<Sealed> Seal(const ReportSum& sum, NoiseGen& noise) const;
  absl::StatusOr<Released<Mean>> Open(const MeanQuery& query, const Sealed& sealed) const;
  /// Returns the noise laws that a release for this query will have.
  absl::StatusOr<std::vector<NoiseLaw>> Forecast(const MeanQuery& query) const;
};

/// The trusted server adds noise to the sum over the clients (P1, Theorem 4.2). The unit is one client's
/// whole contribution; the neighbours are replace-one. The sum's sensitivity follows from the ranges of its
/// coordinates, in the norm that fits the noise. For a dealt query a client gives one reward, and each
/// coordinate has noise for its own range (docs/proofs/dealt.md).
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
  absl::StatusOr<Report> RandomizeGroup(const MeanQuery& query, int part, const Raw<RewardSums>& group,
                                        NoiseGen& noise) const;
  absl::Status Add(const MeanQuery& query, const Report& report, ReportSum& sum) const;
  absl::StatusOr<Sealed> Seal(const ReportSum& sum, NoiseGen& noise) const;
  absl::StatusOr<Released<Mean>> Open(const MeanQuery& query, const Sealed& sealed) const;
  /// Returns the noise laws that a release for this query will have.
  absl::StatusOr<std::vector<NoiseLaw>> Forecast(const MeanQuery& query) const;

 private:
  absl::StatusOr<std::vector<std::uint64_t>> Scales(const MeanQuery& query) const {
    return ScalesOf(query, [&](int part) { return noise_.Scale(query, part); });
  }

  explicit CentralMean(Noise noise) : noise_(std::move(noise)) {}
  Noise noise_;
};

/// Each client adds noise to its own averages (P1, Theorem 4.4). Unit, neighbours and sensitivity are those
/// of the central model, also for dealt queries. The difference is that each report is protected on its own.
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
  absl::StatusOr<Report> RandomizeGroup(const MeanQuery& query, int part, const Raw<RewardSums>& group,
                                        NoiseGen& noise) const;
  absl::Status Add(const MeanQuery& query, const Report& report, ReportSum& sum) const;
  absl::StatusOr<Sealed> Seal(const ReportSum& sum, NoiseGen& noise) const;
  absl::StatusOr<Released<Mean>> Open(const MeanQuery& query, const Sealed& sealed) const;
  /// Returns the noise laws that a release for this query will have.
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
