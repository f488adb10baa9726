#include "bandana/lab/judge/findings.h"

#include <algorithm>
#include <set>

#include "absl/status/status.h"
#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace bandana::lab {
namespace {

constexpr std::size_t kRegret = 0;  // the column of regret in the rows: it is the first metric of every run

// Returns the numbers of that name, or none: a summary of an earlier version may lack them.
std::vector<double> NumbersOf(const Json& curves, const char* name) {
  const auto it = curves.find(name);
  return it == curves.end() || !it->is_array() ? std::vector<double>{} : it->get<std::vector<double>>();
}

bool IsExtreme(const Json& value) { return value == "largest" || value == "smallest"; }

bool IsChosen(const MeasuredPoint& point, const Choice& choice) {
  for (const auto& [key, value] : choice.exactly) {
    const auto it = point.keys.find(key);
    if (it == point.keys.end() || !(IsExtreme(value) ? it->second.is_number() : it->second == value)) {
      return false;
    }
  }
  return std::all_of(choice.if_present.begin(), choice.if_present.end(), [&](const auto& wanted) {
    const auto it = point.keys.find(wanted.first);
    return it == point.keys.end() || it->second == wanted.second;
  });
}

void KeepExtreme(std::vector<const MeasuredPoint*>& points, const std::string& key, bool largest) {
  if (points.empty()) return;
  const auto of = [&](const MeasuredPoint* point) { return point->keys.at(key).get<double>(); };
  double extreme = of(points.front());
  for (const MeasuredPoint* point : points) {
    extreme = largest ? std::max(extreme, of(point)) : std::min(extreme, of(point));
  }
  std::erase_if(points, [&](const MeasuredPoint* point) { return of(point) != extreme; });
}

MeasuredPoint Measured(const Json& json) {
  MeasuredPoint point{{}, &json};
  for (const auto& [key, value] : json["point"].items()) point.keys[key] = value;
  if (const auto graph = json.find("graph"); graph != json.end()) {
    for (const auto& [key, value] : graph->items()) point.keys["graph." + key] = value;
  }
  return point;
}

}  // namespace

std::string NameOf(const Choice& choice) {
  std::vector<std::string> words;
  for (const Where* where : {&choice.exactly, &choice.if_present}) {
    for (const auto& [key, value] : *where) words.push_back(fmt::format("{} = {}", key, value.dump()));
  }
  return words.empty() ? "any keys" : fmt::format("{}", fmt::join(words, ", "));
}

absl::StatusOr<Sample> MeasuredPoint::Final(const std::string& metric) const {
  const Json& metrics = (*json)["metrics"];
  const auto it = metrics.find(metric);
  if (it == metrics.end()) return absl::NotFoundError("the run has no metric " + metric);
  return (*it)["values"].get<Sample>();
}

std::size_t MeasuredPoint::replicates() const {
  const Json& metrics = (*json)["metrics"];
  return metrics.empty() ? 1 : (*metrics.begin())["values"].size();
}

absl::StatusOr<CurveOverTime> CurveOf(const MeasuredPoint& point) {
  const auto curve = point.json->find("curve");
  if (curve == point.json->end()) return absl::NotFoundError("the run has no curve over time");
  CurveOverTime result{(*curve)["t"].get<std::vector<double>>(),
                       NumbersOf((*curve)["regret"], "mean"),
                       NumbersOf((*curve)["regret"], "median"),
                       {}};
  if (result.t.empty()) return absl::NotFoundError("the run has no checkpoint");
  if (point.rows == nullptr) return result;
  for (std::size_t i = 0; i < result.t.size(); ++i) {
    result.samples.emplace_back();
    for (const auto& replicate : *point.rows) result.samples.back().push_back(replicate[i][kRegret]);
  }
  return result;
}

Findings::Findings(const Json& summary) {
  for (const Json& point : summary["points"]) points_.push_back(Measured(point));
}

Findings::Findings(const Json& summary, const Spec& spec) : Findings(summary) {
  BANDANA_CHECK(points_.size() == spec.points.size());
  for (std::size_t i = 0; i < points_.size(); ++i) {
    for (const auto& [key, value] : spec.points[i].settings.values()) points_[i].keys[key] = ToJson(value);
  }
}

Findings& Findings::AddRows(const ResultsFile::Values& rows) {
  BANDANA_CHECK(rows.size() == points_.size());
  for (std::size_t i = 0; i < points_.size(); ++i) points_[i].rows = &rows[i];
  return *this;
}

std::vector<const MeasuredPoint*> Findings::Points(const Choice& choice) const {
  std::vector<const MeasuredPoint*> points;
  for (const MeasuredPoint& point : points_) {
    if (IsChosen(point, choice)) points.push_back(&point);
  }
  for (const auto& [key, value] : choice.exactly) {
    if (IsExtreme(value)) KeepExtreme(points, key, value == "largest");
  }
  return points;
}

absl::StatusOr<const MeasuredPoint*> Findings::ThePoint(const Choice& choice) const {
  const std::vector<const MeasuredPoint*> points = Points(choice);
  if (points.size() == 1) return points.front();
  return absl::NotFoundError(
      fmt::format("the run has {} points with {}, where one is wanted", points.size(), NameOf(choice)));
}

std::vector<double> Findings::ValuesOf(const std::string& key, const Choice& choice) const {
  std::set<double> values;
  for (const MeasuredPoint* point : Points(choice)) {
    const auto it = point->keys.find(key);
    if (it != point->keys.end() && it->second.is_number()) values.insert(it->second.get<double>());
  }
  return {values.begin(), values.end()};
}

}  // namespace bandana::lab
