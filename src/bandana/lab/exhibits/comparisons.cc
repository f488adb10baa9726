#include "bandana/lab/exhibits/comparisons.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "bandana/core/status.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace bandana::lab {
namespace {

struct SharedX {
  double x = 0;
  const Sample* a = nullptr;
  const Sample* b = nullptr;
};

std::vector<SharedX> Shared(const Line& a, const Line& b) {
  std::vector<SharedX> places;
  for (std::size_t i = 0; i < a.x.size(); ++i) {
    const auto it = std::find(b.x.begin(), b.x.end(), a.x[i]);
    if (it != b.x.end())
      places.push_back({a.x[i], &a.y[i], &b.y[static_cast<std::size_t>(it - b.x.begin())]});
  }
  return places;
}

std::string Ratios(const std::vector<SharedX>& places) {
  std::vector<std::string> words;
  for (const SharedX& place : places) {
    words.push_back(fmt::format("{} at {}", Figure(PairedRatio(*place.a, *place.b)), Figure(place.x)));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

// Holds if `holds` does at every shared place, and there is at least one.
Finding Everywhere(const Named& a, const Named& b, const std::string& words,
                   const std::function<bool(const SharedX&)>& holds) {
  const std::vector<SharedX> places = Shared(a.line, b.line);
  std::vector<SharedX> not_seen;
  std::copy_if(places.begin(), places.end(), std::back_inserter(not_seen),
               [&](const SharedX& place) { return !holds(place); });
  std::string evidence = fmt::format("{} / {}: {}", a.name, b.name, Ratios(places));
  if (places.empty()) return {false, fmt::format("{} and {} share no place", a.name, b.name)};
  if (!not_seen.empty()) {
    std::vector<std::string> where;
    for (const SharedX& place : not_seen) where.push_back(Figure(place.x));
    evidence += fmt::format("; {} at {}", words, fmt::join(where, ", "));
  }
  return {not_seen.empty(), evidence};
}

}  // namespace

absl::StatusOr<Named> NamedAlong(const Findings& findings, std::string name, const std::string& key,
                                 const Where& where, const std::string& metric) {
  BANDANA_ASSIGN_OR_RETURN(Line line, findings.Along(key, where, metric));
  return Named{std::move(name), std::move(line)};
}

Finding Falls(const Named& a) {
  const Line& line = a.line;
  std::vector<std::string> words;
  std::vector<std::string> up;
  for (std::size_t i = 0; i < line.x.size(); ++i) {
    words.push_back(fmt::format("{} at {}", Figure(MeanOf(line.y[i])), Figure(line.x[i])));
    if (i > 0 && Compare(line.y[i], line.y[i - 1]) == Order::kAbove) up.push_back(Figure(line.x[i]));
  }
  std::string evidence = fmt::format("{}: {}", a.name, fmt::join(words, ", "));
  const bool falls = Compare(line.y.back(), line.y.front()) == Order::kBelow;
  if (!falls) evidence += "; no clear fall from the first to the last";
  if (!up.empty()) evidence += fmt::format("; clearly up at {}", fmt::join(up, ", "));
  return {falls && up.empty(), evidence};
}

Finding Below(const Named& a, const Named& b) {
  return Everywhere(a, b, "not clearly below",
                    [](const SharedX& place) { return Compare(*place.a, *place.b) == Order::kBelow; });
}

Finding NowhereAbove(const Named& a, const Named& b) {
  return Everywhere(a, b, "clearly above",
                    [](const SharedX& place) { return Compare(*place.a, *place.b) != Order::kAbove; });
}

Finding WithinFactor(const Named& a, const Named& b, double factor) {
  return Everywhere(a, b, fmt::format("not within a factor of {:.3g}", factor), [&](const SharedX& place) {
    const double ratio = PairedRatio(*place.a, *place.b).value;
    return ratio <= factor && ratio >= 1 / factor;
  });
}

Finding AtLeastTimes(const Named& a, const Named& b, double factor) {
  return Everywhere(a, b, fmt::format("less than {:.3g} times", factor),
                    [&](const SharedX& place) { return PairedRatio(*place.a, *place.b).value >= factor; });
}

Finding ConvergesTo(const Named& a, const std::string& name, const Sample& b, double factor) {
  std::vector<std::string> words;
  double ratio = 0;
  for (std::size_t i = 0; i < a.line.x.size(); ++i) {
    const Estimate estimate = PairedRatio(a.line.y[i], b);
    ratio = estimate.value;
    words.push_back(fmt::format("{} at {}", Figure(estimate), Figure(a.line.x[i])));
  }
  const bool holds = ratio <= factor && ratio >= 1 / factor;
  std::string evidence = fmt::format("{} / {}: {}", a.name, name, fmt::join(words, ", "));
  if (!holds) evidence += fmt::format("; the last is not within a factor of {:.3g}", factor);
  return {holds, evidence};
}

Finding GrowsAtMostLike(const Named& a, double rate, double tolerance) {
  const Estimate slope = LogLogSlope(a.line);
  const bool holds = slope.value <= rate + tolerance + kClear * slope.se;
  return {holds,
          fmt::format("{}: slope {:.3f} +- {:.3f}, theory {:.3g}", a.name, slope.value, slope.se, rate)};
}

Finding ExcessGrowsAtMostLike(const Named& a, const Named& b, double rate, double tolerance) {
  const std::vector<SharedX> places = Shared(a.line, b.line);
  if (places.size() < 2) return {false, fmt::format("{} and {} share no two places", a.name, b.name)};
  const SharedX& first = places.front();
  const SharedX& last = places.back();
  const double allowed = std::pow(last.x / first.x, rate + tolerance);
  Sample beyond;  // the excess at the last place minus the largest that the rate allows
  for (std::size_t i = 0; i < first.a->size(); ++i) {
    beyond.push_back((*last.a)[i] - (*last.b)[i] - allowed * ((*first.a)[i] - (*first.b)[i]));
  }
  std::vector<std::string> words;
  for (const SharedX& place : places) {
    words.push_back(fmt::format("{} at {}", Figure(PairedDifference(*place.a, *place.b)), Figure(place.x)));
  }
  const bool holds = Compare(beyond, Sample(beyond.size(), 0)) != Order::kAbove;
  return {holds, fmt::format("{} above {}: {}; {} would allow a factor of {:.3g}", a.name, b.name,
                             fmt::join(words, ", "), fmt::format("T^{:.3g}", rate),
                             std::pow(last.x / first.x, rate))};
}

Named Part(const Named& a, double lowest, double highest) {
  Named part{a.name, {}};
  for (std::size_t i = 0; i < a.line.x.size(); ++i) {
    if (!(a.line.x[i] >= lowest && a.line.x[i] <= highest)) continue;
    part.line.x.push_back(a.line.x[i]);
    part.line.y.push_back(a.line.y[i]);
  }
  return part;
}

Finding Both(const Finding& a, const Finding& b) {
  return {a.holds && b.holds, a.evidence + "; " + b.evidence};
}

}  // namespace bandana::lab
