#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/lab/exhibits/comparisons.h"

/// P3's exhibits: which points are meant, and how two of them compare. Regret is per agent throughout.
namespace bandana::lab::p3 {

inline constexpr char kRegret[] = "regret_per_agent";

/// FedUCB as it is by default, as printed, and without privacy.
Where Ours();
Where AsPrinted();
Where NonPrivate();

/// `where` with one more key.
Where With(Where where, const std::string& key, Json value);

/// The values that a key has at the points that are meant, ascending.
std::vector<double> ValuesOf(const Findings& findings, const std::string& key, const Where& where);

/// Holds if it does at every value that the key has there; the evidence of all. An error if there are none.
using AtValue = std::function<absl::StatusOr<Finding>(double value)>;
absl::StatusOr<Finding> AtEvery(const Findings& findings, const std::string& key, const Where& where,
                                const AtValue& judge);

/// A point's regret by replicate, with its name.
struct NamedSample {
  std::string name;
  Sample sample;
};
absl::StatusOr<NamedSample> NamedRegret(const Findings& findings, std::string name, const Where& where);

/// Holds if a is clearly below b.
Finding Below(const NamedSample& a, const NamedSample& b);

/// Holds if the ratio of the means is from 1/factor to factor.
Finding WithinFactor(const NamedSample& a, const NamedSample& b, double factor);

/// The log-log slope along a key. Holds if it is within `near` of `rate`.
Finding GrowsLike(const Named& line, double rate, double near);

}  // namespace bandana::lab::p3
