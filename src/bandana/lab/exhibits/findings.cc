#include "bandana/lab/exhibits/findings.h"

#include "absl/status/status.h"
#include "bandana/core/status.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace bandana::lab {
namespace {

// Returns the numbers of that name, or none: a summary of an earlier version may lack them.
std::vector<double> Numbers(const Json& curves, const char* name) {
  const auto it = curves.find(name);
  return it == curves.end() || !it->is_array() ? std::vector<double>{} : it->get<std::vector<double>>();
}

bool IsMeant(const Json& point, const Where& where) {
  const Json& varied = point["point"];
  for (const auto& [key, value] : where) {
    const auto it = varied.find(key);
    if (value.is_null() ? it != varied.end() : it == varied.end() || *it != value) return false;
  }
  return true;
}

absl::StatusOr<Sample> MetricOf(const Json& point, const std::string& metric) {
  const auto it = point["metrics"].find(metric);
  if (it == point["metrics"].end()) return absl::NotFoundError("the run has no metric " + metric);
  return (*it)["values"].get<Sample>();
}

}  // namespace

std::string NameOf(const Where& where) {
  std::vector<std::string> words;
  for (const auto& [key, value] : where) words.push_back(fmt::format("{} = {}", key, value.dump()));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::vector<const Json*> Findings::Points(const Where& where) const {
  std::vector<const Json*> points;
  for (const Json& point : summary_["points"]) {
    if (IsMeant(point, where)) points.push_back(&point);
  }
  return points;
}

absl::StatusOr<const Json*> Findings::ThePoint(const Where& where) const {
  const std::vector<const Json*> points = Points(where);
  if (points.size() == 1) return points.front();
  return absl::NotFoundError(
      fmt::format("the run has {} points with {}, where one is wanted", points.size(), NameOf(where)));
}

absl::StatusOr<Sample> Findings::Final(const Where& where, const std::string& metric) const {
  BANDANA_ASSIGN_OR_RETURN(const Json* point, ThePoint(where));
  return MetricOf(*point, metric);
}

absl::StatusOr<Line> Findings::Along(const std::string& key, const Where& where,
                                     const std::string& metric) const {
  std::map<double, Sample> line;
  for (const Json* point : Points(where)) {
    const auto it = (*point)["point"].find(key);
    if (it == (*point)["point"].end() || !it->is_number()) continue;
    BANDANA_ASSIGN_OR_RETURN(Sample sample, MetricOf(*point, metric));
    if (!line.emplace(it->get<double>(), std::move(sample)).second) {
      return absl::NotFoundError(
          fmt::format("the run has several points with {} at one {}", NameOf(where), key));
    }
  }
  if (line.size() < 2) {
    return absl::NotFoundError(
        fmt::format("the run has {} values of {} with {}, where two or more are wanted", line.size(), key,
                    NameOf(where)));
  }
  Line result;
  for (auto& [x, sample] : line) {
    result.x.push_back(x);
    result.y.push_back(std::move(sample));
  }
  return result;
}

absl::StatusOr<CurveOverTime> Findings::Curve(const Where& where) const {
  BANDANA_ASSIGN_OR_RETURN(const Json* point, ThePoint(where));
  const Json& curve = (*point)["curve"];
  return CurveOverTime{curve["t"].get<std::vector<double>>(),
                       curve["regret"]["mean"].get<std::vector<double>>(),
                       curve["regret"]["sd"].get<std::vector<double>>(), Numbers(curve["regret"], "median")};
}

}  // namespace bandana::lab
