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

}  // namespace bandana::audit
