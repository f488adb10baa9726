#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/core/status.h"
#include "bandana/lab/exhibits/comparisons.h"

/// Helpers for claims: they choose points of a run and compare two of them.
namespace bandana::lab {

/// Returns `where` with one more key.
Where With(Where where, const std::string& key, Json value);

/// Returns the values that a key has at the points that `where` chooses, ascending.
std::vector<double> ValuesOf(const Findings& findings, const std::string& key, const Where& where);

/// Holds if `judge` holds for each element of `range`, which must not be empty. It has the evidence of all.
template <typename Range, typename Judge>
absl::StatusOr<Finding> ForEach(const Range& range, const Judge& judge) {
  Finding all{true, ""};
  for (const auto& each : range) {
    BANDANA_ASSIGN_OR_RETURN(const Finding one, judge(each));
    all.holds = all.holds && one.holds;
    all.evidence += (all.evidence.empty() ? "" : "; ") + one.evidence;
  }
  return all;
}

/// Holds if `judge` holds at every value that the key has at the points that `where` chooses. It has the
/// evidence of all. Fails if there is no such value.
using AtValue = std::function<absl::StatusOr<Finding>(double value)>;
absl::StatusOr<Finding> AtEvery(const Findings& findings, const std::string& key, const Where& where,
                                const AtValue& judge);

/// A metric of a point, one value per replicate, with its name in the evidence.
struct NamedSample {
  std::string name;
  Sample sample;
};
absl::StatusOr<NamedSample> NamedFinal(const Findings& findings, std::string name, const Where& where,
                                       const std::string& metric = "regret");

/// Holds if the mean of a is clearly below that of b (Compare).
Finding Below(const NamedSample& a, const NamedSample& b);

/// Holds if the ratio of the means is from 1/factor to factor.
Finding WithinFactor(const NamedSample& a, const NamedSample& b, double factor);

}  // namespace bandana::lab
