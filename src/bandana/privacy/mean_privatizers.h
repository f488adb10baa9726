#pragma once

#include <vector>

#include "bandana/privacy/declassify.h"
#include "bandana/privacy/gaussian_params.h"
#include "bandana/privacy/grid_mean.h"
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
  absl::Status Add(const MeanQuery& query, const Report& report, ReportSum& sum) const;
  absl::StatusOr<Sealed> Seal(const ReportSum& sum, NoiseGen& noise) const;
  absl::StatusOr<Released<Mean>> Open(const MeanQuery& query, const Sealed& sealed) const;
};

/// The trusted server adds Gaussian noise to the clients' sum (P1, Theorem 4.2). Unit: one client's whole
/// contribution; neighbours: replace-one; l2 sensitivity of the sum: the root of the summed squared ranges
/// (docs/proofs/central-gaussian.md).
class CentralGaussianMean : public GridMean {
 public:
  static constexpr bool kChargesClient = false;
  static constexpr bool kChargesAnalyzer = true;

  static absl::StatusOr<CentralGaussianMean> Create(const GaussianParams& params);

  std::vector<Claim> claims() const;
  DpGuarantee guarantee() const { return setting_.delivered; }
  absl::StatusOr<Report> Randomize(const MeanQuery& query, const Raw<RewardSums>& rewards,
                                   NoiseGen& noise) const;
  absl::Status Add(const MeanQuery& query, const Report& report, ReportSum& sum) const;
  absl::StatusOr<Sealed> Seal(const ReportSum& sum, NoiseGen& noise) const;
  absl::StatusOr<Released<Mean>> Open(const MeanQuery& query, const Sealed& sealed) const;

 private:
  explicit CentralGaussianMean(const GaussianSetting& setting) : setting_(setting) {}
  GaussianSetting setting_;
};

/// Each client adds Gaussian noise to its own averages (P1, Theorem 4.4). Unit, neighbours and sensitivity as
/// in the central model, but each report is protected by itself (docs/proofs/local-gaussian.md).
class LocalGaussianMean : public GridMean {
 public:
  static constexpr bool kChargesClient = true;
  static constexpr bool kChargesAnalyzer = false;

  static absl::StatusOr<LocalGaussianMean> Create(const GaussianParams& params);

  std::vector<Claim> claims() const;
  DpGuarantee guarantee() const { return setting_.delivered; }
  absl::StatusOr<Report> Randomize(const MeanQuery& query, const Raw<RewardSums>& rewards,
                                   NoiseGen& noise) const;
  absl::Status Add(const MeanQuery& query, const Report& report, ReportSum& sum) const;
  absl::StatusOr<Sealed> Seal(const ReportSum& sum, NoiseGen& noise) const;
  absl::StatusOr<Released<Mean>> Open(const MeanQuery& query, const Sealed& sealed) const;

 private:
  explicit LocalGaussianMean(const GaussianSetting& setting) : setting_(setting) {}
  GaussianSetting setting_;
};

static_assert(Privatizer<NoPrivacyMean>);
static_assert(Privatizer<CentralGaussianMean>);
static_assert(Privatizer<LocalGaussianMean>);

}  // namespace bandana
