#pragma once

#include <array>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bandana/audit/distinguisher.h"
#include "bandana/audit/mean_target.h"
#include "bandana/audit/release_path.h"
#include "bandana/audit/target.h"
#include "bandana/privacy/privatizer.h"
#include "bandana/privacy/shuffle_means.h"
#include "bandana/privacy/wire.h"

/// Mechanisms under dealt queries. The neighbours differ in one client, which answers one coordinate with one
/// reward; the reward is at either end of its interval.
namespace bandana::audit {

/// Returns AuditQuery's three coordinates as a dealt query.
MeanQuery AuditDeal(std::vector<Count> dealt);

/// A client: the part that it was assigned, and its reward.
struct DealtClient {
  int part;
  double reward;
};

double EndOf(const MeanQuery& query, int part, Neighbour neighbour);

/// Returns all clients of a query, by parts. The first client of `part` is at the neighbour's end of its
/// interval. The adversary knows the others. They are at either end (kAtEither), or all at the end of the
/// first neighbour (kAtTheFirst), where the client hides best among them.
enum class Others { kAtEither, kAtTheFirst };
std::vector<DealtClient> DealtPopulation(const MeanQuery& query, int part, Neighbour neighbour,
                                         Others others);

/// Returns the sum of the clients' rewards, for each coordinate.
std::vector<double> SumOf(const MeanQuery& query, const std::vector<DealtClient>& clients);

/// Returns the reports of clients 1, 2, ..., as they leave the clients.
template <DealingPrivatizer P>
absl::StatusOr<std::vector<Report>> PartsOf(const P& privatizer, const MeanQuery& query,
                                            std::span<const DealtClient> clients, NoiseGen& noise) {
  std::vector<Report> reports;
  for (const DealtClient& each : clients) {
    AuditContext client(NodeId{static_cast<std::uint32_t>(reports.size() + 1)}, noise);
    const std::vector<RewardSum> one = {{1, each.reward}};
    BANDANA_ASSIGN_OR_RETURN(Report report, Release::PartFromClient(client, privatizer, 1, query, each.part,
                                                                    Raw<RewardSums>(one)));
    reports.push_back(std::move(report));
  }
  return reports;
}

/// Attacks the release, as sums. The changed client is assigned the query's second coordinate. If each
/// coordinate has one client, the release consists of the clients' reports. The last `colluding` clients of
/// the second coordinate work with the adversary: it subtracts their reports.
template <DealingPrivatizer P>
Target DealtTarget(const std::string& name, P privatizer, const MeanQuery& query, NoiseShape shape,
                   Count colluding = 0) {
  constexpr int kPart = 1;
  const std::array populations = {DealtPopulation(query, kPart, Neighbour::kFirst, Others::kAtEither),
                                  DealtPopulation(query, kPart, Neighbour::kSecond, Others::kAtEither)};
  const std::vector<Claim> claims = DealtClaims(privatizer);
  Target target{.name = name, .claim = claims.front(), .dimension = query.bounds.size()};
  target.direction = {0, 1, 0};
  if (shape == NoiseShape::kLaplace) {
    // Only one coordinate differs, so its scale does not matter.
    target.log_ratio = LaplaceLogRatio(SumOf(query, populations[0]), SumOf(query, populations[1]), 1);
  }
  target.draw = [privatizer = std::move(privatizer), query, populations, colluding](
                    Neighbour neighbour, NoiseGen& noise, std::span<double> view) -> absl::Status {
    const auto& clients = populations[neighbour == Neighbour::kSecond];
    BANDANA_ASSIGN_OR_RETURN(std::vector<Report> reports, PartsOf(privatizer, query, clients, noise));
    const auto after = static_cast<std::size_t>(query.dealt[0] + query.dealt[1]);
    for (std::size_t i = after - static_cast<std::size_t>(colluding); i < after; ++i) {
      reports[i] = Wire::FromUnits(NodeId{static_cast<std::uint32_t>(i + 1)}, {0}, 0, 0, {}, kPart);
    }
    BANDANA_ASSIGN_OR_RETURN(const Mean mean, ReleaseMean(privatizer, query, reports, noise));
    for (std::size_t i = 0; i < view.size(); ++i) {
      view[i] = mean.entries[i] * static_cast<double>(query.dealt[i]);
    }
    return absl::OkStatus();
  };
  return target;
}

/// Where the adversary looks for the changed client. kSecret: in every coordinate, as the shuffler may have
/// assigned it any of them. kPublic: in the first, which everyone knows to be its coordinate.
enum class Deal { kSecret, kPublic };

/// Attacks reports with Laplace noise for `made_for` that are mixed as answers to `query`, which has at most
/// as many clients. The adversary is the server. Its view is the likelihood ratio (as in shuffle_entries.cc,
/// by coordinate) and the sums. The last `colluding` clients work with it: it leaves their reports out.
Target ShuffledDealTarget(const std::string& name, const ShuffledLaplaceMean& privatizer,
                          const MeanQuery& query, const MeanQuery& made_for, Deal deal, Count colluding = 0);

}  // namespace bandana::audit
