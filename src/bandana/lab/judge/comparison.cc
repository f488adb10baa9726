#include "bandana/lab/judge/comparison.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bandana/core/status.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace bandana::lab {
namespace {

using PlaceInWords = std::function<std::string(const SharedPlace&)>;

std::string AtPlaces(const std::vector<SharedPlace>& places, const PlaceInWords& in_words) {
  std::vector<std::string> words;
  for (const SharedPlace& place : places) {
    words.push_back(fmt::format("{} at {}", in_words(place), Figure(place.x)));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

bool IsSo(ClaimKind is, double a, double b, double factor) {
  switch (is) {
    case ClaimKind::kBelow:
      return a < b;
    case ClaimKind::kAbove:
      return a > b;
    case ClaimKind::kNotAbove:
      return a <= b;
    case ClaimKind::kNotBelow:
      return a >= b;
    case ClaimKind::kWithin:
      return a / b <= factor && a / b >= 1 / factor;
    case ClaimKind::kAtLeast:
      return a >= factor * b;
    default:
      return a <= factor * b;
  }
}

std::size_t CountSo(const SharedPlace& place, const Comparison& comparison) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < place.a.size(); ++i) {
    count += IsSo(comparison.is, place.a[i], place.b[i], comparison.factor) ? 1 : 0;
  }
  return count;
}

bool AreEqual(const SharedPlace& place, double tolerance) {
  return std::equal(place.a.begin(), place.a.end(), place.b.begin(), [&](double a, double b) {
    return a == b || std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b));
  });
}

bool HoldsAt(const SharedPlace& place, const Comparison& comparison) {
  if (comparison.is == ClaimKind::kEquals) return AreEqual(place, comparison.tolerance);
  const auto replicates = static_cast<double>(place.a.size());
  const auto in = static_cast<double>(CountSo(place, comparison));
  if (comparison.by == By::kReplicate) return in >= comparison.share.value_or(1) * replicates;
  if (comparison.by == By::kMedian) {
    return IsSo(comparison.is, MedianOf(place.a), MedianOf(place.b), comparison.factor) &&
           in >= comparison.share.value_or(0) * replicates;
  }
  const Order order = Compare(place.a, place.b);
  switch (comparison.is) {
    case ClaimKind::kBelow:
      return order == Order::kBelow;
    case ClaimKind::kAbove:
      return order == Order::kAbove;
    case ClaimKind::kNotAbove:
      return order != Order::kAbove;
    case ClaimKind::kNotBelow:
      return order != Order::kBelow;
    default:
      return IsSo(comparison.is, MeanOf(place.a).value, MeanOf(place.b).value, comparison.factor);
  }
}

// Says what is not so, for the places where the comparison does not hold.
std::string Contrary(const Comparison& comparison) {
  const std::string clearly = comparison.by == By::kMean ? "clearly " : "";
  switch (comparison.is) {
    case ClaimKind::kBelow:
      return fmt::format("not {}below", clearly);
    case ClaimKind::kAbove:
      return fmt::format("not {}above", clearly);
    case ClaimKind::kNotAbove:
      return clearly + "above";
    case ClaimKind::kNotBelow:
      return clearly + "below";
    case ClaimKind::kWithin:
      return fmt::format("not within a factor of {:.3g}", comparison.factor);
    case ClaimKind::kAtLeast:
      return fmt::format("less than {:.3g} times", comparison.factor);
    case ClaimKind::kAtMost:
      return fmt::format("more than {:.3g} times", comparison.factor);
    default:
      return "not equal";
  }
}

std::string FromTo(const Sample& sample) {
  const auto [least, most] = std::minmax_element(sample.begin(), sample.end());
  return *least == *most ? Figure(*least) : fmt::format("{} to {}", Figure(*least), Figure(*most));
}

// Returns the figures of a comparison of two points, or of a point with a number.
std::string FiguresOf(const NamedLine& a, const NamedLine& b, const SharedPlace& place,
                      const Comparison& comparison) {
  const bool constant = b.kind == NamedLine::Kind::kConstant;
  if (comparison.is == ClaimKind::kEquals && constant) {
    return fmt::format("{} {:.6g} ({:.6g})", a.name, MeanOf(place.a).value, place.b.front());
  }
  if (comparison.by == By::kMedian) {
    std::string text = fmt::format("{}: median {}, {}: {}", a.name, Figure(MedianOf(place.a)), b.name,
                                   Figure(MedianOf(place.b)));
    if (comparison.share.has_value()) {
      text += fmt::format("; {} in {} of {}", ClaimKindNames()[static_cast<std::size_t>(comparison.is)],
                          CountSo(place, comparison), place.a.size());
    }
    return text;
  }
  if (comparison.by == By::kReplicate) {
    return fmt::format("{} {}, {} {}; so in {} of {}", a.name, FromTo(place.a), constant ? "against" : b.name,
                       FromTo(place.b), CountSo(place, comparison), place.a.size());
  }
  const std::string mean = Figure(MeanOf(place.a));
  if (constant) return fmt::format("{} {}, against {}", a.name, mean, Figure(place.b.front()));
  std::string both = fmt::format("{} {}, {} {}", a.name, mean, b.name, Figure(MeanOf(place.b)));
  if (comparison.is == ClaimKind::kEquals || MeanOf(place.b).value == 0) return both;
  return fmt::format("{}: {} times", both, Figure(PairedRatio(place.a, place.b)));
}

// Returns the figures of a comparison at several places.
std::string FiguresAlong(const NamedLine& a, const NamedLine& b, const std::vector<SharedPlace>& places,
                         const Comparison& comparison) {
  if (comparison.by == By::kMedian) {
    return fmt::format("{} / {}, medians: {}", a.name, b.name, AtPlaces(places, [](const SharedPlace& place) {
                         return Figure(MedianOf(place.a) / MedianOf(place.b));
                       }));
  }
  if (comparison.by == By::kReplicate) {
    return fmt::format("{} / {}, replicates: {}", a.name, b.name,
                       AtPlaces(places, [](const SharedPlace& place) {
                         Sample ratios;
                         for (std::size_t i = 0; i < place.a.size(); ++i) {
                           ratios.push_back(place.a[i] / place.b[i]);
                         }
                         return FromTo(ratios);
                       }));
  }
  if (b.kind == NamedLine::Kind::kConstant) {
    return fmt::format("{}: {}, against {}", a.name,
                       AtPlaces(places, [](const SharedPlace& place) { return Figure(MeanOf(place.a)); }),
                       Figure(b.line.y.front().front()));
  }
  return fmt::format("{} / {}: {}", a.name, b.name, AtPlaces(places, [](const SharedPlace& place) {
                       return Figure(PairedRatio(place.a, place.b));
                     }));
}

bool ComparesRatios(ClaimKind is) {
  return is == ClaimKind::kWithin || is == ClaimKind::kAtLeast || is == ClaimKind::kAtMost;
}

// Returns the relative difference between a and b that would not be clear at this place.
std::optional<double> UnclearAt(const SharedPlace& place, const Comparison& comparison) {
  if (place.a.size() < 2) return std::nullopt;
  if (comparison.by == By::kMedian) {
    Sample ratios;
    for (std::size_t i = 0; i < place.a.size(); ++i) ratios.push_back(place.a[i] / place.b[i]);
    return SpreadOf(ratios);
  }
  if (ComparesRatios(comparison.is)) {
    const Estimate ratio = PairedRatio(place.a, place.b);
    if (std::abs(ratio.value) > 0 && std::isfinite(ratio.value)) {
      return kClear * ratio.se / std::abs(ratio.value);
    }
  }
  const auto [smaller, larger] =
      std::minmax({std::abs(MeanOf(place.a).value), std::abs(MeanOf(place.b).value)});
  if (larger == 0) return 0;
  return kClear * PairedDifference(place.a, place.b).se / (smaller > 0 ? smaller : larger);
}

// Returns the largest relative difference that would not be clear at one of the places. A comparison
// replicate by replicate has none.
std::optional<Resolution> ResolutionOf(const std::vector<SharedPlace>& places, const Comparison& comparison) {
  if (comparison.is == ClaimKind::kEquals || comparison.by == By::kReplicate) return std::nullopt;
  Resolution resolves;
  for (const SharedPlace& place : places) {
    const std::optional<double> unclear = UnclearAt(place, comparison);
    if (!unclear.has_value()) return std::nullopt;
    resolves.value = std::max(resolves.value, *unclear);
  }
  return resolves;
}

// Returns the change of a statistic that would be clear, from its value in every Resampled. With medians it
// is the largest difference of one replicate from `value`. Infinite: some replicate has no such value.
double ClearChange(double value, const Sample& resampled, By by) {
  if (by != By::kMedian) {
    const double error = JackknifeError(resampled);
    return std::isfinite(error) ? kClear * error : HUGE_VAL;
  }
  double largest = 0;
  for (const double alone : resampled) {
    if (!std::isfinite(alone - value)) return HUGE_VAL;
    largest = std::max(largest, std::abs(alone - value));
  }
  return largest;
}

struct Exponent {
  Estimate slope;
  std::optional<Resolution> resolves = std::nullopt;
};

// Returns the exponent of growth and how closely the run knows it.
absl::StatusOr<Exponent> KnownExponentOf(const NamedLine& a, By by) {
  constexpr auto kind = Resolution::Kind::kExponent;
  BANDANA_ASSIGN_OR_RETURN(const Estimate slope, ExponentOf(a));
  Exponent exponent{slope};
  if (a.kind != NamedLine::Kind::kOverTime) {
    if (exponent.slope.se >= 0) exponent.resolves = Resolution{kClear * exponent.slope.se, kind};
    return exponent;
  }
  Sample resampled;
  for (std::size_t j = 0; j < ReplicatesOf({{a.name, a}}); ++j) {
    BANDANA_ASSIGN_OR_RETURN(const Estimate moved, ExponentOf(Resampled(a, j, by)));
    resampled.push_back(moved.value);
  }
  if (resampled.empty()) return exponent;
  exponent.resolves = Resolution{ClearChange(exponent.slope.value, resampled, by), kind};
  if (by != By::kMedian) exponent.slope.se = JackknifeError(resampled);
  return exponent;
}

}  // namespace

std::optional<Resolution> ResolutionOf(const std::map<std::string, NamedLine>& lines, By by) {
  Resolution resolves;
  bool known = false;
  for (const auto& [name, line] : lines) {
    if (line.kind == NamedLine::Kind::kConstant || line.kind == NamedLine::Kind::kOverTime) continue;
    for (const Sample& sample : line.line.y) {
      if (sample.size() < 2) continue;
      const Estimate mean = MeanOf(sample);
      std::optional<double> unclear;
      if (by == By::kMedian) unclear = SpreadOf(sample);
      if (by == By::kMean && mean.value != 0) unclear = kClear * mean.se / std::abs(mean.value);
      if (!unclear.has_value() || !std::isfinite(*unclear)) continue;
      known = true;
      resolves.value = std::max(resolves.value, *unclear);
    }
  }
  return known ? std::optional(resolves) : std::nullopt;
}

absl::StatusOr<std::optional<Resolution>> GapResolutionOf(const std::map<std::string, NamedLine>& lines,
                                                          const Case& of) {
  const std::size_t replicates = ReplicatesOf(lines);
  if (replicates < 2) return std::nullopt;
  Resolution resolves{0, Resolution::Kind::kGap};
  for (const Formula& that : of.claim.that) {
    BANDANA_ASSIGN_OR_RETURN(const std::vector<double> gaps, that.Gaps(ScopeOf(lines, of)));
    std::vector<Sample> resampled(gaps.size());
    for (std::size_t j = 0; j < replicates; ++j) {
      std::map<std::string, NamedLine> moved;
      for (const auto& [name, line] : lines) moved.emplace(name, Resampled(line, j, of.claim.by));
      BANDANA_ASSIGN_OR_RETURN(const std::vector<double> each, that.Gaps(ScopeOf(moved, of)));
      for (std::size_t i = 0; i < gaps.size(); ++i) resampled[i].push_back(each[i]);
    }
    for (std::size_t i = 0; i < gaps.size(); ++i) {
      resolves.value = std::max(resolves.value, ClearChange(gaps[i], resampled[i], of.claim.by));
    }
  }
  return resolves;
}

namespace {

Finding BesideThePrinted(const NamedLine& a, double printed, bool holds) {
  const Estimate ours = MeanOf(a.line.y.front());
  Finding finding{holds, fmt::format("the paper prints {}, {} has {} ({:+.1f} %)", Figure(printed), a.name,
                                     Figure(ours), 100 * (ours.value / printed - 1))};
  finding.measured = ours.value;
  finding.printed = printed;
  if (a.line.y.front().size() > 1) finding.resolves = Resolution{kClear * ours.se / std::abs(printed)};
  return finding;
}

}  // namespace

Finding Prints(const NamedLine& a, double printed, double factor) {
  const double ratio = MeanOf(a.line.y.front()).value / printed;
  return BesideThePrinted(a, printed, ratio <= factor && ratio >= 1 / factor);
}

Finding RoundsTo(const NamedLine& a, double printed, double digit) {
  const double off = MeanOf(a.line.y.front()).value - printed;
  return BesideThePrinted(a, printed, std::abs(off) <= digit / 2);
}

Finding FallsOrRises(const NamedLine& a, bool rises) {
  const Line& line = a.line;
  const Order wanted = rises ? Order::kAbove : Order::kBelow;
  const Order wrong = rises ? Order::kBelow : Order::kAbove;
  std::vector<std::string> words;
  std::vector<std::string> turns;
  for (std::size_t i = 0; i < line.x.size(); ++i) {
    words.push_back(fmt::format("{} at {}", Figure(MeanOf(line.y[i])), Figure(line.x[i])));
    if (i > 0 && Compare(line.y[i], line.y[i - 1]) == wrong) turns.push_back(Figure(line.x[i]));
  }
  std::string evidence = fmt::format("{}: {}", a.name, fmt::join(words, ", "));
  const bool overall = Compare(line.y.back(), line.y.front()) == wanted;
  if (!overall) evidence += fmt::format("; no clear {} from the first to the last", rises ? "rise" : "fall");
  if (!turns.empty())
    evidence += fmt::format("; clearly {} at {}", rises ? "down" : "up", fmt::join(turns, ", "));
  const SharedPlace ends{line.x.back(), line.y.back(), line.y.front()};
  return {overall && turns.empty(), evidence, ResolutionOf({ends}, {})};
}

absl::StatusOr<Finding> Compared(const NamedLine& a, const NamedLine& b, const Comparison& comparison) {
  BANDANA_ASSIGN_OR_RETURN(const std::vector<SharedPlace> places, SharedPlaces(a, b));
  if (places.empty()) return Finding{false, fmt::format("{} and {} share no place", a.name, b.name)};
  std::vector<SharedPlace> counted = places;
  if (comparison.places == Places::kFirst) counted = {places.front()};
  if (comparison.places == Places::kLast) counted = {places.back()};
  std::vector<std::string> not_so;
  for (const SharedPlace& place : counted) {
    if (!HoldsAt(place, comparison)) not_so.push_back(Figure(place.x));
  }
  const bool holds = comparison.places == Places::kSome ? not_so.size() < counted.size() : not_so.empty();
  const bool along = a.kind == NamedLine::Kind::kAlong || b.kind == NamedLine::Kind::kAlong;
  const std::optional<Resolution> resolves = ResolutionOf(counted, comparison);
  if (!along) return Finding{holds, FiguresOf(a, b, places.front(), comparison), resolves};
  std::string evidence = FiguresAlong(a, b, places, comparison);
  if (!holds) evidence += fmt::format("; {} at {}", Contrary(comparison), fmt::join(not_so, ", "));
  return Finding{holds, evidence, resolves};
}

namespace {

std::string ExponentInWords(const NamedLine& a, const Estimate& slope, double rate) {
  if (a.kind == NamedLine::Kind::kOverTime) return fmt::format("{}: t^{:.2f}", a.name, slope.value);
  const std::string se = std::isnan(slope.se) ? "" : fmt::format(" +- {:.3f}", slope.se);
  return fmt::format("{}: slope {:.3f}{}, theory {:.3g}", a.name, slope.value, se, rate);
}

}  // namespace

absl::StatusOr<Finding> GrowsAtMost(const NamedLine& a, double rate, double tolerance, By by) {
  BANDANA_ASSIGN_OR_RETURN(const Exponent exponent, KnownExponentOf(a, by));
  const Estimate& slope = exponent.slope;
  return Finding{slope.value + kClear * slope.se <= rate + tolerance, ExponentInWords(a, slope, rate),
                 exponent.resolves};
}

absl::StatusOr<Finding> GrowsLike(const NamedLine& a, double rate, double tolerance, By by) {
  BANDANA_ASSIGN_OR_RETURN(const Exponent exponent, KnownExponentOf(a, by));
  const Estimate& slope = exponent.slope;
  return Finding{std::abs(slope.value - rate) + kClear * slope.se <= tolerance,
                 ExponentInWords(a, slope, rate), exponent.resolves};
}

absl::StatusOr<Finding> ExcessGrowsAtMost(const NamedLine& a, const NamedLine& b, double rate,
                                          double tolerance) {
  BANDANA_ASSIGN_OR_RETURN(const std::vector<SharedPlace> places, SharedPlaces(a, b));
  if (places.size() < 2) return Finding{false, fmt::format("{} and {} share no two places", a.name, b.name)};
  const SharedPlace& first = places.front();
  const SharedPlace& last = places.back();
  const double allowed = std::pow(last.x / first.x, rate + tolerance);
  Sample beyond;  // the excess at the last place minus the largest that the rate allows
  for (std::size_t i = 0; i < first.a.size(); ++i) {
    beyond.push_back(last.a[i] - last.b[i] - allowed * (first.a[i] - first.b[i]));
  }
  const Order order = Compare(beyond, Sample(beyond.size(), 0));
  std::string evidence = fmt::format(
      "{} above {}: {}; T^{:.3g} would allow a factor of {:.3g}", a.name, b.name,
      AtPlaces(places, [](const SharedPlace& place) { return Figure(PairedDifference(place.a, place.b)); }),
      rate, std::pow(last.x / first.x, rate));
  if (order == Order::kUnclear) evidence += "; the run cannot tell";
  // An exponent that is larger by this would move the last excess by kClear standard errors.
  const double base = allowed * PairedDifference(first.a, first.b).value;
  const double clear = kClear * MeanOf(beyond).se;
  std::optional<Resolution> resolves;
  if (base > 0 && std::isfinite(clear)) {
    resolves = Resolution{std::log1p(clear / base) / std::log(last.x / first.x), Resolution::Kind::kExponent};
  }
  return Finding{order == Order::kBelow, evidence, resolves};
}

}  // namespace bandana::lab
