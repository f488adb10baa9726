#include "bandana/lab/exhibits/points.h"

#include <set>
#include <utility>

#include "fmt/format.h"

namespace bandana::lab {
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

Where With(Where where, const std::string& key, Json value) {
  where[key] = std::move(value);
  return where;
}

std::vector<double> ValuesOf(const Findings& findings, const std::string& key, const Where& where) {
  std::set<double> values;
  for (const Json& point : findings.summary()["points"]) {
    const Json& varied = point["point"];
    if (!IsMeant(varied, where) || !varied.contains(key) || !varied[key].is_number()) continue;
    values.insert(varied[key].get<double>());
  }
  return {values.begin(), values.end()};
}

absl::StatusOr<Finding> AtEvery(const Findings& findings, const std::string& key, const Where& where,
                                const AtValue& judge) {
  const std::vector<double> values = ValuesOf(findings, key, where);
  if (values.empty()) return absl::NotFoundError("the run has no point with " + NameOf(where));
  return ForEach(values, judge);
}

absl::StatusOr<NamedSample> NamedFinal(const Findings& findings, std::string name, const Where& where,
                                       const std::string& metric) {
  BANDANA_ASSIGN_OR_RETURN(Sample sample, findings.Final(where, metric));
  return NamedSample{std::move(name), std::move(sample)};
}

Finding Below(const NamedSample& a, const NamedSample& b) {
  return {Compare(a.sample, b.sample) == Order::kBelow, Ratio(a, b)};
}

Finding WithinFactor(const NamedSample& a, const NamedSample& b, double factor) {
  const double ratio = PairedRatio(a.sample, b.sample).value;
  return {ratio <= factor && ratio >= 1 / factor, Ratio(a, b)};
}

}  // namespace bandana::lab
