#include "bandana/audit/mean_target.h"

namespace bandana::audit {

MeanQuery AuditQuery(Count clients) {
  return {.bounds = {{-1, 1}, {-0.5, 2}, {0, 0.25}}, .clients = clients};
}

std::vector<RewardSum> CornerClient(const MeanQuery& query, Neighbour neighbour) {
  std::vector<RewardSum> averages;
  for (const Interval& bound : query.bounds) {
    averages.push_back({1, neighbour == Neighbour::kSecond ? bound.high : bound.low});
  }
  return averages;
}

std::vector<double> CornerDirection(const MeanQuery& query) {
  std::vector<double> direction;
  for (const Interval& bound : query.bounds) direction.push_back(bound.high - bound.low);
  return direction;
}

std::vector<double> SumOf(const std::vector<std::vector<RewardSum>>& clients) {
  std::vector<double> sum(clients.front().size());
  for (const std::vector<RewardSum>& averages : clients) {
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum[i] += averages[i].sum / static_cast<double>(averages[i].count);
    }
  }
  return sum;
}

std::vector<std::vector<RewardSum>> Population(const MeanQuery& query, Neighbour neighbour) {
  std::vector<std::vector<RewardSum>> clients = {CornerClient(query, neighbour)};
  while (static_cast<Count>(clients.size()) < query.clients) {
    clients.push_back(CornerClient(query, clients.size() % 2 == 0 ? Neighbour::kFirst : Neighbour::kSecond));
  }
  return clients;
}

}  // namespace bandana::audit
