#include "bandana/privacy/mean_privatizers.h"

#include <cstdint>

#include "bandana/core/status.h"

namespace bandana {

absl::StatusOr<Report> NoPrivacyMean::Randomize(const MeanQuery& query, const Raw<RewardSums>& rewards,
                                                NoiseGen&) const {
  BANDANA_ASSIGN_OR_RETURN(Units units, Average(query, rewards));
  return MakeReport(std::move(units), WordBits(query));
}

absl::StatusOr<Report> NoPrivacyMean::RandomizePart(const MeanQuery& query, int part,
                                                    const Raw<RewardSums>& one, NoiseGen&) const {
  BANDANA_ASSIGN_OR_RETURN(const std::int64_t units, PartOf(query, part, one));
  return MakePart(part, 1, units, kWordBits);
}

absl::StatusOr<Report> NoPrivacyMean::RandomizeGroup(const MeanQuery& query, int part,
                                                     const Raw<RewardSums>& group, NoiseGen&) const {
  BANDANA_ASSIGN_OR_RETURN(const GroupSum sum, GroupOf(query, part, group));
  return MakePart(part, sum.clients, sum.units, sum.clients * kWordBits);
}

absl::Status NoPrivacyMean::Add(const MeanQuery& query, const Report& report, ReportSum& sum) const {
  return AddEntries(query, report, Entries::kClip, sum);
}

absl::StatusOr<Sealed> NoPrivacyMean::Seal(const ReportSum& sum, NoiseGen&) const {
  // kProtect accepts every report. The mechanism is declassified: its purpose is to release without noise.
  BANDANA_ASSIGN_OR_RETURN(Units totals, Complete(sum, QueryOf(sum).clients, Next::kProtect));
  return MakeSealed(std::move(totals));
}

absl::StatusOr<Released<Mean>> NoPrivacyMean::Open(const MeanQuery& query, const Sealed& sealed) const {
  return MintMean(query, sealed, [](std::size_t) { return EntryNoise{}; });
}

absl::StatusOr<std::vector<NoiseLaw>> NoPrivacyMean::Forecast(const MeanQuery& query) const {
  return std::vector<NoiseLaw>(query.size());
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
absl::StatusOr<Report> CentralMean<Noise>::RandomizePart(const MeanQuery& query, int part,
                                                         const Raw<RewardSums>& one, NoiseGen&) const {
  BANDANA_ASSIGN_OR_RETURN(const std::int64_t units, PartOf(query, part, one));
  return MakePart(part, 1, units, kWordBits, query.clients);
}

template <class Noise>
absl::StatusOr<Report> CentralMean<Noise>::RandomizeGroup(const MeanQuery& query, int part,
                                                          const Raw<RewardSums>& group, NoiseGen&) const {
  BANDANA_ASSIGN_OR_RETURN(const GroupSum sum, GroupOf(query, part, group));
  return MakePart(part, sum.clients, sum.units, sum.clients * kWordBits, query.clients);
}

template <class Noise>
absl::Status CentralMean<Noise>::Add(const MeanQuery& query, const Report& report, ReportSum& sum) const {
  return AddEntries(query, report, Entries::kClip, sum);
}

template <class Noise>
absl::StatusOr<Sealed> CentralMean<Noise>::Seal(const ReportSum& sum, NoiseGen& noise) const {
  BANDANA_ASSIGN_OR_RETURN(Units totals, Complete(sum, QueryOf(sum).clients, Next::kProtect));
  BANDANA_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> scales, Scales(QueryOf(sum)));
  for (std::size_t i = 0; i < totals.size(); ++i) {
    if (scales[i] > 0) totals[i] += noise_.Draw(scales[i], noise);
  }
  return MakeSealed(std::move(totals));
}

template <class Noise>
absl::StatusOr<Released<Mean>> CentralMean<Noise>::Open(const MeanQuery& query, const Sealed& sealed) const {
  BANDANA_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> scales, Scales(query));
  return MintMean(query, sealed, [&](std::size_t i) {
    return EntryNoise{noise_.Law(scales[i], 1), scales[i] > 0 ? Noise::kMean : 0};
  });
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
absl::StatusOr<Report> LocalMean<Noise>::RandomizePart(const MeanQuery& query, int part,
                                                       const Raw<RewardSums>& one, NoiseGen& noise) const {
  BANDANA_ASSIGN_OR_RETURN(std::int64_t units, PartOf(query, part, one));
  BANDANA_ASSIGN_OR_RETURN(const std::uint64_t scale, noise_.Scale(query, part));
  if (scale > 0) units += noise_.Draw(scale, noise);
  return MakePart(part, 1, units, kWordBits);
}

template <class Noise>
absl::StatusOr<Report> LocalMean<Noise>::RandomizeGroup(const MeanQuery& query, int part,
                                                        const Raw<RewardSums>& group, NoiseGen& noise) const {
  BANDANA_ASSIGN_OR_RETURN(GroupSum sum, GroupOf(query, part, group));
  BANDANA_ASSIGN_OR_RETURN(const std::uint64_t scale, noise_.Scale(query, part));
  if (scale > 0) {
    BANDANA_ASSIGN_OR_RETURN(const std::int64_t added, noise_.DrawSum(scale, sum.clients, noise));
    sum.units += added;
  }
  return MakePart(part, sum.clients, sum.units, sum.clients * kWordBits);
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
  BANDANA_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> scales, Scales(query));
  return MintMean(query, sealed, [&](std::size_t i) {
    const Count clients = query.clients_of(i);
    return EntryNoise{noise_.Law(scales[i], clients),
                      scales[i] > 0 ? Noise::kMean * static_cast<double>(clients) : 0};
  });
}

template <class Noise>
absl::StatusOr<std::vector<NoiseLaw>> CentralMean<Noise>::Forecast(const MeanQuery& query) const {
  BANDANA_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> scales, Scales(query));
  return LawsOf(query, [&](std::size_t i) { return EntryNoise{noise_.Law(scales[i], 1)}; });
}

template <class Noise>
absl::StatusOr<std::vector<NoiseLaw>> LocalMean<Noise>::Forecast(const MeanQuery& query) const {
  BANDANA_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> scales, Scales(query));
  return LawsOf(query, [&](std::size_t i) { return EntryNoise{noise_.Law(scales[i], query.clients_of(i))}; });
}

template class CentralMean<GaussianNoise>;
template class CentralMean<LaplaceNoise>;
template class LocalMean<GaussianNoise>;
template class LocalMean<LaplaceNoise>;

}  // namespace bandana
