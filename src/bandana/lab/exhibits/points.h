#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/core/status.h"
#include "bandana/lab/exhibits/comparisons.h"

/// Which points of a run are meant, and how two of them compare.
namespace bandana::lab {

/// `where` with one more key.
Where With(Where where, const std::string& key, Json value);

/// The values that a key has at the points that are meant, ascending.
std::vector<double> ValuesOf(const Findings& findings, const std::string& key, const Where& where);

/// Holds if it does for each of `range`, which is not empty; the evidence of all.
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

/// Holds if it does at every value that the key has there; the evidence of all. An error if there are none.
using AtValue = std::function<absl::StatusOr<Finding>(double value)>;
absl::StatusOr<Finding> AtEvery(const Findings& findings, const std::string& key, const Where& where,
                                const AtValue& judge);

/// A point's metric by replicate, with its name.
struct NamedSample {
  std::string name;
  Sample sample;
};
absl::StatusOr<NamedSample> NamedFinal(const Findings& findings, std::string name, const Where& where,
                                       const std::string& metric = "regret");

/// Holds if a is clearly below b.
Finding Below(const NamedSample& a, const NamedSample& b);

/// Holds if the ratio of the means is from 1/factor to factor.
Finding WithinFactor(const NamedSample& a, const NamedSample& b, double factor);

}  // namespace bandana::lab
