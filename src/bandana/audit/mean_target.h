#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bandana/audit/distinguisher.h"
#include "bandana/audit/release_path.h"
#include "bandana/audit/target.h"

namespace bandana::audit {

/// Returns the query for mean mechanisms in an audit: three coordinates with different ranges, one of them
/// not centred at 0.
MeanQuery AuditQuery(Count clients);

/// Returns a client whose averages are at the low or the high end of every interval: no two clients are
/// further apart.
std::vector<RewardSum> CornerClient(const MeanQuery& query, Neighbour neighbour);

/// Returns the sum of the clients' averages, for each coordinate.
std::vector<double> SumOf(const std::vector<std::vector<RewardSum>>& clients);

/// Returns the direction from the first corner to the second.
std::vector<double> CornerDirection(const MeanQuery& query);

/// Returns the clients of a query. The first is at the neighbour's corner. The others are at either corner,
/// and the adversary knows them.
std::vector<std::vector<RewardSum>> Population(const MeanQuery& query, Neighbour neighbour);

/// Returns the claim against one of a mechanism's adversaries; nothing if there is none.
template <Privatizer P>
std::optional<Claim> ClaimOf(const P& privatizer, std::size_t adversary = 0) {
  const std::vector<Claim> claims = privatizer.claims();
  return adversary < claims.size() ? std::optional(claims[adversary]) : std::nullopt;
}

/// Which distribution of a release's noise is known. kSpherical: the noise is spherical, with the same spread
/// in every coordinate. kLaplace: it is Laplace. kUnknown: nothing is known, and the audit learns it.
enum class NoiseShape { kSpherical, kLaplace, kUnknown };

/// Attacks the release of a population, as a sum over clients. If the query has one client, the release is
/// that client's report.
template <Privatizer P>
Target MeanTarget(const std::string& name, P privatizer, const MeanQuery& query, NoiseShape shape) {
  Target target{.name = name, .claim = ClaimOf(privatizer), .dimension = query.bounds.size()};
  if (shape == NoiseShape::kSpherical) target.direction = CornerDirection(query);
  if (shape == NoiseShape::kLaplace) {
    target.log_ratio = LaplaceLogRatio(SumOf(Population(query, Neighbour::kFirst)),
                                       SumOf(Population(query, Neighbour::kSecond)), 1);
  }
  target.draw = [privatizer = std::move(privatizer), query,
                 populations =
                     std::array{Population(query, Neighbour::kFirst), Population(query, Neighbour::kSecond)}](
                    Neighbour neighbour, NoiseGen& noise, std::span<double> view) -> absl::Status {
    const auto& clients = populations[neighbour == Neighbour::kSecond];
    BANDANA_ASSIGN_OR_RETURN(const std::vector<Report> reports, ReportsOf(privatizer, query, clients, noise));
    BANDANA_ASSIGN_OR_RETURN(const Mean mean, ReleaseMean(privatizer, query, reports, noise));
    for (std::size_t i = 0; i < view.size(); ++i) {
      view[i] = mean.entries[i] * static_cast<double>(query.clients);
    }
    return absl::OkStatus();
  };
  return target;
}

}  // namespace bandana::audit
