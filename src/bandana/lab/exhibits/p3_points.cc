#include "bandana/lab/exhibits/p3_points.h"

#include <cmath>
#include <set>
#include <utility>

#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana::lab::p3 {
namespace {

bool IsMeant(const Json& varied, const Where& where) {
  for (const auto& [key, value] : where) {
    const auto it = varied.find(key);
    if (it == varied.end() || *it != value) return false;
  }
  return true;
}

std::string Ratio(const NamedSample& a, const NamedSample& b) {
  return fmt::format("{} {}, {} {}: {} times", a.name, Figure(MeanOf(a.sample)), b.name,
                     Figure(MeanOf(b.sample)), Figure(PairedRatio(a.sample, b.sample)));
}

}  // namespace

Where Ours() { return {{"privacy.model", "silo"}, {"algorithm.local", "released"}}; }
Where AsPrinted() { return {{"privacy.calibration", "paper"}}; }
Where NonPrivate() { return {{"privacy.model", "none"}}; }

Where With(Where where, const std::string& key, Json value) {
  where[key] = std::move(value);
  return where;
}

std::vector<double> ValuesOf(const Findings& findings, const std::string& key, const Where& where) {
  std::set<double> values;
  for (const Json& point : findings.summary()["points"]) {
    const Json& varied = point["point"];
    if (IsMeant(varied, where) && varied.contains(key)) values.insert(varied[key].get<double>());
  }
  return {values.begin(), values.end()};
}

absl::StatusOr<Finding> AtEvery(const Findings& findings, const std::string& key, const Where& where,
                                const AtValue& judge) {
  Finding all{true, ""};
  const std::vector<double> values = ValuesOf(findings, key, where);
  if (values.empty()) return absl::NotFoundError("the run has no point with " + ToText(where));
  for (const double value : values) {
    BANDANA_ASSIGN_OR_RETURN(const Finding one, judge(value));
    all.holds = all.holds && one.holds;
    all.evidence += (all.evidence.empty() ? "" : "; ") + one.evidence;
  }
  return all;
}

absl::StatusOr<NamedSample> NamedRegret(const Findings& findings, std::string name, const Where& where) {
  BANDANA_ASSIGN_OR_RETURN(Sample sample, findings.Final(where, kRegret));
  return NamedSample{std::move(name), std::move(sample)};
}

Finding Below(const NamedSample& a, const NamedSample& b) {
  return {Compare(a.sample, b.sample) == Order::kBelow, Ratio(a, b)};
}

Finding WithinFactor(const NamedSample& a, const NamedSample& b, double factor) {
  const double ratio = PairedRatio(a.sample, b.sample).value;
  return {ratio <= factor && ratio >= 1 / factor, Ratio(a, b)};
}

Finding GrowsLike(const Named& line, double rate, double near) {
  const Estimate slope = LogLogSlope(line.line);
  std::string figures;
  for (std::size_t i = 0; i < line.line.x.size(); ++i) {
    figures += fmt::format(", {} at {}", Figure(MeanOf(line.line.y[i])), Figure(line.line.x[i]));
  }
  return {std::abs(slope.value - rate) <= near,
          fmt::format("{}: slope {:.2f} +- {:.2f}{}", line.name, slope.value, slope.se, figures)};
}

}  // namespace bandana::lab::p3
