#include "bandana/privacy/mean_privatizers.h"

#include <cstdint>

#include "bandana/core/status.h"

namespace bandana {

absl::StatusOr<Report> NoPrivacyMean::Randomize(const MeanQuery& query, const Raw<RewardSums>& rewards,
                                                NoiseGen&) const {
  BANDANA_ASSIGN_OR_RETURN(Units units, Average(query, rewards));
  return MakeReport(std::move(units), WordBits(query));
}

absl::Status NoPrivacyMean::Add(const MeanQuery& query, const Report& report, ReportSum& sum) const {
  return AddEntries(query, report, Entries::kClip, sum);
}

absl::StatusOr<Sealed> NoPrivacyMean::Seal(const ReportSum& sum, NoiseGen&) const {
  // Declassified: to go out bare is what it is for.
  BANDANA_ASSIGN_OR_RETURN(Units totals, Complete(sum, QueryOf(sum).clients, Next::kProtect));
  return MakeSealed(std::move(totals));
}

absl::StatusOr<Released<Mean>> NoPrivacyMean::Open(const MeanQuery& query, const Sealed& sealed) const {
  return MintMean(query, sealed, NoiseLaw{}, 0);
}

template <class Noise>
std::vector<Claim> CentralMean<Noise>::claims() const {
  return {ClientClaim("everyone who sees the server's releases and actions; the server itself is trusted",
                      noise_.delivered(), Noise::kCentralProof)};
}

template <class Noise>
absl::StatusOr<Report> CentralMean<Noise>::Randomize(const MeanQuery& query, const Raw<RewardSums>& rewards,
                                                     NoiseGen&) const {
  BANDANA_ASSIGN_OR_RETURN(Units units, Average(query, rewards));
  return MakeReport(std::move(units), WordBits(query), query.clients);
}

template <class Noise>
absl::Status CentralMean<Noise>::Add(const MeanQuery& query, const Report& report, ReportSum& sum) const {
  return AddEntries(query, report, Entries::kClip, sum);
}

template <class Noise>
absl::StatusOr<Sealed> CentralMean<Noise>::Seal(const ReportSum& sum, NoiseGen& noise) const {
  BANDANA_ASSIGN_OR_RETURN(Units totals, Complete(sum, QueryOf(sum).clients, Next::kProtect));
  BANDANA_ASSIGN_OR_RETURN(const std::uint64_t scale, noise_.Scale(QueryOf(sum)));
  if (scale > 0) {
    for (std::int64_t& total : totals) total += noise_.Draw(scale, noise);
  }
  return MakeSealed(std::move(totals));
}

template <class Noise>
absl::StatusOr<Released<Mean>> CentralMean<Noise>::Open(const MeanQuery& query, const Sealed& sealed) const {
  BANDANA_ASSIGN_OR_RETURN(const std::uint64_t scale, noise_.Scale(query));
  return MintMean(query, sealed, noise_.Law(scale, 1), scale > 0 ? Noise::kMean : 0);
}

template <class Noise>
std::vector<Claim> LocalMean<Noise>::claims() const {
  return {ClientClaim("the server, and anyone who reads a client's report", noise_.delivered(),
                      Noise::kLocalProof)};
}

template <class Noise>
absl::StatusOr<Report> LocalMean<Noise>::Randomize(const MeanQuery& query, const Raw<RewardSums>& rewards,
                                                   NoiseGen& noise) const {
  BANDANA_ASSIGN_OR_RETURN(const std::uint64_t scale, noise_.Scale(query));
  BANDANA_ASSIGN_OR_RETURN(Units units, Average(query, rewards));
  if (scale > 0) {
    for (std::int64_t& unit : units) unit += noise_.Draw(scale, noise);
  }
  return MakeReport(std::move(units), WordBits(query));
}

template <class Noise>
absl::Status LocalMean<Noise>::Add(const MeanQuery& query, const Report& report, ReportSum& sum) const {
  return AddEntries(query, report, Entries::kAsSent, sum);
}

template <class Noise>
absl::StatusOr<Sealed> LocalMean<Noise>::Seal(const ReportSum& sum, NoiseGen&) const {
  BANDANA_ASSIGN_OR_RETURN(Units totals, Complete(sum, QueryOf(sum).clients, Next::kLetOut));
  return MakeSealed(std::move(totals));
}

template <class Noise>
absl::StatusOr<Released<Mean>> LocalMean<Noise>::Open(const MeanQuery& query, const Sealed& sealed) const {
  BANDANA_ASSIGN_OR_RETURN(const std::uint64_t scale, noise_.Scale(query));
  return MintMean(query, sealed, noise_.Law(scale, query.clients),
                  scale > 0 ? Noise::kMean * static_cast<double>(query.clients) : 0);
}

template class CentralMean<GaussianNoise>;
template class CentralMean<LaplaceNoise>;
template class LocalMean<GaussianNoise>;
template class LocalMean<LaplaceNoise>;

}  // namespace bandana
