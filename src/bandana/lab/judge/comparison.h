#pragma once

#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "bandana/lab/judge/series.h"
#include "bandana/lab/judge/verdict.h"

/// The comparisons that claims are made of. Each returns its evidence too.
namespace bandana::lab {

/// Holds if the last mean is clearly below the first and no step goes clearly up, or the reverse if `rises`.
/// The line has at least two places.
Finding FallsOrRises(const NamedLine& a, bool rises);

struct Comparison {
  ClaimKind is = ClaimKind::kBelow;  ///< from kBelow to kAtMost, or kEquals
  By by = By::kMean;
  Places places = Places::kEvery;
  double factor = 1;
  /// The share of the replicates in which it must be so. By default all if replicates are compared, and none
  /// if medians are.
  std::optional<double> share = std::nullopt;
  double tolerance = 0;  ///< for kEquals: relative to the larger of 1 and the value
};

/// Compares two series at the places that both have. If there is no such place, it does not hold.
absl::StatusOr<Finding> Compared(const NamedLine& a, const NamedLine& b, const Comparison& comparison);

/// Returns how closely the run knows the numbers of an inequality: the widest of them counts. Constants and
/// curves over time do not count, since they have no replicates.
std::optional<Resolution> ResolutionOf(const std::map<std::string, NamedLine>& lines, By by);

/// Returns how closely the run knows the difference between the sides of the claim's inequalities, from the
/// replicates of all lines, curves over time included. The inequality that is known least counts. Nothing:
/// there are no two replicates.
absl::StatusOr<std::optional<Resolution>> GapResolutionOf(const std::map<std::string, NamedLine>& lines,
                                                          const Case& of);

/// Holds if the mean of `a`, which is one point, is within `factor` of the number that the paper prints.
Finding Prints(const NamedLine& a, double printed, double factor);

/// Holds if the mean of `a`, which is one point, is the printed number when it is rounded to multiples of
/// `digit`, as the paper rounds.
Finding RoundsTo(const NamedLine& a, double printed, double digit);

/// Holds if the exponent of growth plus kClear standard errors is at most `rate` plus `tolerance`, which is
/// for logarithms and lower orders. Over time, an exponent of medians has no standard error.
absl::StatusOr<Finding> GrowsAtMost(const NamedLine& a, double rate, double tolerance, By by);

/// Holds if the exponent of growth and kClear standard errors on both sides of it are within `tolerance` of
/// `rate`.
absl::StatusOr<Finding> GrowsLike(const NamedLine& a, double rate, double tolerance, By by);

/// Compares the excess a - b at the last place with the excess at the first place times the growth that the
/// rate and the tolerance allow. Holds if the first is clearly smaller, so it does not hold for excesses that
/// are lost in the noise. Excesses may be negative.
absl::StatusOr<Finding> ExcessGrowsAtMost(const NamedLine& a, const NamedLine& b, double rate,
                                          double tolerance);

}  // namespace bandana::lab
