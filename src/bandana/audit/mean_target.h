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

/// What the mean mechanisms are asked in an audit: three coordinates of different ranges, one of them not
/// around 0.
MeanQuery AuditQuery(Count clients);

/// A client's averages at the low or the high end of every interval: no two clients are further apart.
std::vector<RewardSum> CornerClient(const MeanQuery& query, Neighbour neighbour);

/// Coordinate by coordinate, the sum of the clients' averages.
std::vector<double> SumOf(const std::vector<std::vector<RewardSum>>& clients);

/// From the first corner to the second.
std::vector<double> CornerDirection(const MeanQuery& query);

/// The clients of a query: the first at the neighbour's corner, the others, whom the adversary knows, at
/// either.
std::vector<std::vector<RewardSum>> Population(const MeanQuery& query, Neighbour neighbour);

/// The claim against one of a mechanism's adversaries, none if it makes none.
template <Privatizer P>
std::optional<Claim> ClaimOf(const P& privatizer, std::size_t adversary = 0) {
  const std::vector<Claim> claims = privatizer.claims();
  return adversary < claims.size() ? std::optional(claims[adversary]) : std::nullopt;
}

/// What is known of a release: its noise has the same spread in every coordinate, and is spherical; or
/// Laplace; or nothing, and the audit learns it.
enum class NoiseShape { kSpherical, kLaplace, kUnknown };

/// The release of a population, as a sum over clients. With one client in the query it is that client's
/// report.
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
