#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bandana/audit/release_path.h"
#include "bandana/audit/target.h"

namespace bandana::audit {

/// What the mean mechanisms are asked in an audit: three coordinates of different ranges, one of them not
/// around 0.
MeanQuery AuditQuery(Count clients);

/// A client's averages at the low or the high end of every interval: no two clients are further apart.
std::vector<RewardSum> CornerClient(const MeanQuery& query, Neighbour neighbour);

/// From the first corner to the second.
std::vector<double> CornerDirection(const MeanQuery& query);

/// The release, as a sum over clients, of a population whose first client sits at one corner or the other and
/// whose other clients the adversary knows. With one client in the query it is that client's report.
template <Privatizer P>
Target MeanTarget(std::string name, P privatizer, const MeanQuery& query) {
  const std::vector<Claim> claims = privatizer.claims();
  Target target{
      .name = std::move(name), .dimension = query.bounds.size(), .direction = CornerDirection(query)};
  if (!claims.empty()) target.claim = claims.front();
  std::vector<std::vector<RewardSum>> populations[2];
  for (const Neighbour neighbour : {Neighbour::kFirst, Neighbour::kSecond}) {
    auto& clients = populations[neighbour == Neighbour::kSecond];
    clients.push_back(CornerClient(query, neighbour));
    while (static_cast<Count>(clients.size()) < query.clients) {
      clients.push_back(
          CornerClient(query, clients.size() % 2 == 0 ? Neighbour::kFirst : Neighbour::kSecond));
    }
  }
  target.draw = [privatizer = std::move(privatizer), query, low = std::move(populations[0]),
                 high = std::move(populations[1])](Neighbour neighbour, NoiseGen& noise,
                                                   std::span<double> view) -> absl::Status {
    BANDANA_ASSIGN_OR_RETURN(
        const Mean mean, ReleaseMean(privatizer, query, neighbour == Neighbour::kFirst ? low : high, noise));
    for (std::size_t i = 0; i < view.size(); ++i)
      view[i] = mean.entries[i] * static_cast<double>(query.clients);
    return absl::OkStatus();
  };
  return target;
}

}  // namespace bandana::audit
