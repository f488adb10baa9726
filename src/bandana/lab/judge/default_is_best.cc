#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
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

double GeometricMean(const Sample& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

// Returns the spread over replicates of the score of the chosen value relative to that of another value: the
// largest over all others. Each replicate has a score of its own. Nothing: there are no two replicates.
std::optional<Resolution> ResolutionOf(const std::map<double, std::vector<Sample>>& regrets, double chosen) {
  Resolution resolves;
  for (const auto& [value, samples] : regrets) {
    Sample ratios;
    for (std::size_t j = 0; j < samples.front().size(); ++j) {
      Sample own;
      for (std::size_t i = 0; i < samples.size(); ++i) {
        if (j >= samples[i].size() || j >= regrets.at(chosen)[i].size()) return std::nullopt;
        own.push_back(regrets.at(chosen)[i][j] / samples[i][j]);
      }
      ratios.push_back(GeometricMean(own));
    }
    const std::optional<double> spread = SpreadOf(ratios);
    if (!spread.has_value()) return std::nullopt;
    resolves.value = std::max(resolves.value, *spread);
  }
  return resolves;
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
  std::map<double, std::vector<Sample>> regrets;  // at the points with this value of the option
  for (const MeasuredPoint* point : points) {
    const auto value = point->keys.find(key);
    if (value == point->keys.end() || !value->second.is_number()) continue;
    BANDANA_ASSIGN_OR_RETURN(Sample sample, point->Final("regret"));
    regrets[value->second.get<double>()].push_back(std::move(sample));
  }
  if (!regrets.contains(*chosen))
    return absl::NotFoundError(fmt::format("no point has the value {} of {}", *chosen, key));
  BANDANA_ASSIGN_OR_RETURN(const double factor, NumberOf(of.claim.factor, of));
  std::map<double, double> scores;
  for (const auto& [value, samples] : regrets) {
    if (samples.size() != regrets.begin()->second.size()) {
      return absl::NotFoundError(fmt::format("the values of {} do not have equally many points", key));
    }
    Sample medians;
    for (const Sample& sample : samples) medians.push_back(MedianOf(sample));
    scores[value] = GeometricMean(medians);
  }
  bool holds = true;
  std::vector<std::string> words;
  for (const auto& [value, score] : scores) {
    holds = holds && scores.at(*chosen) <= factor * score;
    words.push_back(fmt::format("{}: {}", value, Figure(score)));
  }
  return Finding{holds, fmt::format("{}", fmt::join(words, "; ")), ResolutionOf(regrets, *chosen)};
}

}  // namespace

absl::StatusOr<Finding> DefaultIsBest(const Case& of) { return ValueIsBest(of, true); }
absl::StatusOr<Finding> NumberIsBest(const Case& of) { return ValueIsBest(of, false); }

}  // namespace bandana::lab
