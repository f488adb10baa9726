#include "bandana/audit/shuffle_target.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "bandana/audit/mean_target.h"
#include "bandana/privacy/wire.h"

namespace bandana::audit {

Target CollusionTarget(const std::string& name, const ShuffleSumMean& privatizer, const MeanQuery& query,
                       Count colluding) {
  Target target = MeanTarget(name, privatizer, query, NoiseShape::kUnknown);
  MeanQuery others = query;
  others.clients = query.clients - colluding;
  target.draw = [=, populations = std::array{Population(others, Neighbour::kFirst),
                                             Population(others, Neighbour::kSecond)}](
                    Neighbour neighbour, NoiseGen& noise, std::span<double> view) -> absl::Status {
    const auto& clients = populations[neighbour == Neighbour::kSecond];
    BANDANA_ASSIGN_OR_RETURN(std::vector<Report> reports, ReportsOf(privatizer, query, clients, noise));
    while (static_cast<Count>(reports.size()) < query.clients) {
      const NodeId colluder{static_cast<std::uint32_t>(reports.size() + 1)};
      reports.push_back(Wire::FromUnits(colluder, std::vector<std::int64_t>(query.bounds.size(), 0)));
    }
    BANDANA_ASSIGN_OR_RETURN(const Mean mean, ReleaseMean(privatizer, query, reports, noise));
    std::copy(mean.entries.begin(), mean.entries.end(), view.begin());
    return absl::OkStatus();
  };
  return target;
}

// The server sees reports y_1 .. y_n in an order that carries no information. So all it can learn is in the
// ratio of their likelihoods under the two neighbours, (1/n) sum_i f_second(y_i)/f_first(y_i). The view is
// this ratio and the sum of the reports.
absl::StatusOr<Target> CollusionTarget(const std::string& name, const ShuffledLaplaceMean& privatizer,
                                       const MeanQuery& query, Count colluding) {
  BANDANA_ASSIGN_OR_RETURN(const double epsilon0, privatizer.LocalEpsilon(query.clients));
  const double scale = GridMean::SensitivityL1(query) * GridMean::kUnit / epsilon0;
  std::array<std::vector<std::vector<RewardSum>>, 2> populations;
  for (const Neighbour neighbour : {Neighbour::kFirst, Neighbour::kSecond}) {
    auto& clients = populations[neighbour == Neighbour::kSecond];
    clients.assign(static_cast<std::size_t>(query.clients - colluding),
                   CornerClient(query, Neighbour::kFirst));
    clients.front() = CornerClient(query, neighbour);
  }
  Target target{.name = name, .claim = ClaimOf(privatizer, 0), .dimension = 2};
  target.log_ratio = [](std::span<const double> view) { return view[0]; };
  target.draw = [=](Neighbour neighbour, NoiseGen& noise, std::span<double> view) -> absl::Status {
    const auto& clients = populations[neighbour == Neighbour::kSecond];
    BANDANA_ASSIGN_OR_RETURN(const std::vector<Report> reports, ReportsOf(privatizer, query, clients, noise));
    view[0] = view[1] = 0;
    for (const Report& report : reports) {
      const double y = static_cast<double>(Wire::Units(report)[0]) * GridMean::kUnit;
      view[0] += std::exp((std::abs(y + 1) - std::abs(y - 1)) / scale);
      view[1] += y;
    }
    return absl::OkStatus();
  };
  return target;
}

}  // namespace bandana::audit
