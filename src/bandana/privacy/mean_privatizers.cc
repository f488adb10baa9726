#include "bandana/privacy/mean_privatizers.h"

#include <cmath>
#include <cstdint>

#include "bandana/core/status.h"

namespace bandana {
namespace {

Claim ClientClaim(const char* adversary, const GaussianSetting& setting, const char* proof) {
  return {.adversary = adversary,
          .guarantee = setting.delivered,
          .unit = "one client's whole contribution",
          .neighbours = "replace-one",
          .proof = proof};
}

}  // namespace

absl::StatusOr<Report> NoPrivacyMean::Randomize(const MeanQuery& query, const Raw<RewardSums>& rewards,
                                                NoiseGen& noise) const {
  return Average(query, rewards, 0, Sampler::kExact, noise);
}

absl::Status NoPrivacyMean::Add(const MeanQuery& query, const Report& report, ReportSum& sum) const {
  return AddEntries(query, report, Entries::kClip, sum);
}

absl::StatusOr<Sealed> NoPrivacyMean::Seal(const ReportSum& sum, NoiseGen& noise) const {
  return NoisySum(sum, 0, Sampler::kExact, noise);
}

absl::StatusOr<Released<Mean>> NoPrivacyMean::Open(const MeanQuery& query, const Sealed& sealed) const {
  return MintMean(query, sealed, 0.0, 0);
}

absl::StatusOr<CentralGaussianMean> CentralGaussianMean::Create(const GaussianParams& params) {
  BANDANA_ASSIGN_OR_RETURN(const GaussianSetting setting, SetUpGaussian(params));
  return CentralGaussianMean(setting);
}

std::vector<Claim> CentralGaussianMean::claims() const {
  return {ClientClaim("everyone who sees the server's releases and actions; the server itself is trusted",
                      setting_, "docs/proofs/central-gaussian.md")};
}

absl::StatusOr<Report> CentralGaussianMean::Randomize(const MeanQuery& query, const Raw<RewardSums>& rewards,
                                                      NoiseGen& noise) const {
  return Average(query, rewards, 0, setting_.sampler, noise);
}

absl::Status CentralGaussianMean::Add(const MeanQuery& query, const Report& report, ReportSum& sum) const {
  return AddEntries(query, report, Entries::kClip, sum);
}

absl::StatusOr<Sealed> CentralGaussianMean::Seal(const ReportSum& sum, NoiseGen& noise) const {
  BANDANA_ASSIGN_OR_RETURN(const std::uint64_t stddev, NoiseUnits(setting_.multiplier, QueryOf(sum)));
  return NoisySum(sum, stddev, setting_.sampler, noise);
}

absl::StatusOr<Released<Mean>> CentralGaussianMean::Open(const MeanQuery& query, const Sealed& sealed) const {
  BANDANA_ASSIGN_OR_RETURN(const std::uint64_t of_sum, NoiseUnits(setting_.multiplier, query));
  return MintMean(query, sealed, static_cast<double>(of_sum) * kUnit / static_cast<double>(query.clients), 1);
}

absl::StatusOr<LocalGaussianMean> LocalGaussianMean::Create(const GaussianParams& params) {
  BANDANA_ASSIGN_OR_RETURN(const GaussianSetting setting, SetUpGaussian(params));
  return LocalGaussianMean(setting);
}

std::vector<Claim> LocalGaussianMean::claims() const {
  return {ClientClaim("the server, and anyone who reads a client's report", setting_,
                      "docs/proofs/local-gaussian.md")};
}

absl::StatusOr<Report> LocalGaussianMean::Randomize(const MeanQuery& query, const Raw<RewardSums>& rewards,
                                                    NoiseGen& noise) const {
  BANDANA_ASSIGN_OR_RETURN(const std::uint64_t stddev, NoiseUnits(setting_.multiplier, query));
  return Average(query, rewards, stddev, setting_.sampler, noise);
}

absl::Status LocalGaussianMean::Add(const MeanQuery& query, const Report& report, ReportSum& sum) const {
  return AddEntries(query, report, Entries::kAsSent, sum);
}

absl::StatusOr<Sealed> LocalGaussianMean::Seal(const ReportSum& sum, NoiseGen& noise) const {
  return NoisySum(sum, 0, setting_.sampler, noise);
}

absl::StatusOr<Released<Mean>> LocalGaussianMean::Open(const MeanQuery& query, const Sealed& sealed) const {
  BANDANA_ASSIGN_OR_RETURN(const std::uint64_t of_report, NoiseUnits(setting_.multiplier, query));
  return MintMean(query, sealed,
                  static_cast<double>(of_report) * kUnit / std::sqrt(static_cast<double>(query.clients)),
                  query.clients);
}

}  // namespace bandana
