#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "bandana/algorithms/registry.h"
#include "bandana/core/status.h"
#include "bandana/lab/judge/code_judges.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace bandana::lab {
namespace {

// Returns the value that a user has who does not set the option; nothing if it is not a number.
std::optional<double> DefaultOf(const std::string& algorithm, const std::string& kind,
                                const std::string& key) {
  const absl::StatusOr<const Family*> family = Families().FindFamily(algorithm, kind);
  if (!family.ok()) return std::nullopt;
  for (const Option& option : (*family)->options) {
    if (option.FullKey() != key || option.required) continue;
    const Value value = option.get((*family)->defaults);
    if (const auto* number = std::get_if<double>(&value)) return *number;
  }
  return std::nullopt;
}

// Judges the value of the option that the claim names. With `is_default` it must also be the option's
// default.
absl::StatusOr<Finding> ValueIsBest(const Case& of, bool is_default) {
  const auto& series = std::get<Series>(*of.claim.of);
  const std::string key = AlongOf(series, of);
  const std::string algorithm = Filled("{algorithm.name}", of.bindings);
  const std::vector<const MeasuredPoint*> points = of.findings.Points(ChoiceOf(series, of));
  if (points.empty()) return absl::NotFoundError("the run has no point of " + algorithm);
  const auto written = of.bindings.find("value");
  std::optional<double> chosen;
  if (written != of.bindings.end() && written->second.is_number()) chosen = written->second.get<double>();
  if (!chosen.has_value()) return absl::NotFoundError("the claim has no number called value");
  if (is_default) {
    const auto kind = points.front()->keys.find("environment.kind");
    const std::optional<double> fallback =
        DefaultOf(algorithm, kind == points.front()->keys.end() ? "" : TextOf(kind->second), key);
    if (chosen != fallback) {
      return absl::NotFoundError(
          fmt::format("the default of {}'s {} is {}", algorithm, key,
                      fallback.has_value() ? fmt::format("{}", *fallback) : "no number"));
    }
  }
  std::map<double, std::vector<double>> logs;  // of the median regrets, by value of the option
  for (const MeasuredPoint* point : points) {
    const auto value = point->keys.find(key);
    if (value == point->keys.end() || !value->second.is_number()) continue;
    BANDANA_ASSIGN_OR_RETURN(const Sample sample, point->Final("regret"));
    logs[value->second.get<double>()].push_back(std::log(MedianOf(sample)));
  }
  if (!logs.contains(*chosen))
    return absl::NotFoundError(fmt::format("no point has the value {} of {}", *chosen, key));
  BANDANA_ASSIGN_OR_RETURN(const double factor, NumberOf(of.claim.factor, of));
  std::map<double, double> scores;
  for (const auto& [value, medians] : logs) {
    if (medians.size() != logs.begin()->second.size()) {
      return absl::NotFoundError(fmt::format("the values of {} do not have equally many points", key));
    }
    scores[value] = std::exp(MeanOf(medians).value);
  }
  bool holds = true;
  std::vector<std::string> words;
  for (const auto& [value, score] : scores) {
    holds = holds && scores.at(*chosen) <= factor * score;
    words.push_back(fmt::format("{}: {}", value, Figure(score)));
  }
  return Finding{holds, fmt::format("{}", fmt::join(words, "; "))};
}

}  // namespace

absl::StatusOr<Finding> DefaultIsBest(const Case& of) { return ValueIsBest(of, true); }
absl::StatusOr<Finding> NumberIsBest(const Case& of) { return ValueIsBest(of, false); }

}  // namespace bandana::lab
