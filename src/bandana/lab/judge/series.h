#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/lab/judge/claim.h"

namespace bandana::lab {

/// A series with its values.
struct NamedLine {
  enum class Kind {
    kAlong,     ///< several places
    kOnePlace,  ///< one point; in a comparison it stands at every place of the other series
    kConstant,  ///< a number
    kOverTime,  ///< rounds of one point; a place has one value, the mean or median over replicates
  };
  std::string name;
  Line line;
  Kind kind = Kind::kAlong;
  /// For kOverTime: at the same places, one value for each replicate. It is the value without this replicate,
  /// or that of this replicate alone if medians are compared. Empty if there are no two replicates.
  Line resampled = {};
};

/// A claim with the values of `each`, and the run that it is compared with.
struct Case {
  const PaperClaim& claim;
  Bindings bindings;
  const Findings& findings;
};

/// Returns the series that a claim names.
std::vector<const Series*> SeriesOf(const PaperClaim& claim);

/// Returns the points of a series.
Choice ChoiceOf(const Series& series, const Case& of);

/// Returns the key or formula that a series goes along.
std::string AlongOf(const Series& series, const Case& of);

/// Returns the values of a series. Fails if the run lacks the points or metrics.
absl::StatusOr<NamedLine> LineOf(const Series& series, const Case& of);
absl::StatusOr<NamedLine> LineOf(const Operand& operand, const Case& of);

/// Returns the value of a formula that belongs to the whole claim. A key that is not bound must have one
/// value at all points of the claim.
absl::StatusOr<double> NumberOf(const Formula& formula, const Case& of);

/// Returns what the names in a formula of `let` names mean: the mean over replicates, or a function of the
/// series. Both arguments must outlive the scope.
Formula::Scope ScopeOf(const std::map<std::string, NamedLine>& lines, const Case& of);

/// Returns all cases of a claim: one for each combination of values of `each`.
absl::StatusOr<std::vector<Case>> CasesOf(const PaperClaim& claim, const Findings& findings);

/// Returns the line without replicate j or, if medians are compared, the line of replicate j alone. A number
/// stays as it is.
NamedLine Resampled(const NamedLine& line, std::size_t j, By by);

/// Returns how many replicates the lines have, or 0 if that is not known or not the same for all of them.
/// Numbers do not count.
std::size_t ReplicatesOf(const std::map<std::string, NamedLine>& lines);

/// Returns the exponent of growth: the slope of LogLogSlope. Over time it is the slope from the first place
/// to the last, without a standard error, since the values at the places of one run are no independent
/// samples.
absl::StatusOr<Estimate> ExponentOf(const NamedLine& line);

/// A place that two series share.
struct SharedPlace {
  double x = 0;
  Sample a;
  Sample b;
};

/// Returns the places that both series have, with samples of equal size.
absl::StatusOr<std::vector<SharedPlace>> SharedPlaces(const NamedLine& a, const NamedLine& b);

}  // namespace bandana::lab
