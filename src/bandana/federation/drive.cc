#include "bandana/federation/drive.h"

#include <cmath>

#include "fmt/format.h"

namespace bandana {

absl::Status ValidateQuery(const MeanQuery& query) {
  for (const Interval& bound : query.bounds) {
    if (!(std::isfinite(bound.low) && std::isfinite(bound.high) && bound.low <= bound.high)) {
      return absl::InvalidArgumentError(
          fmt::format("malformed message: an interval from {} to {}", bound.low, bound.high));
    }
  }
  return absl::OkStatus();
}

absl::Status ValidatePlan(const Plan& plan) {
  if (plan.pulls.empty() || plan.pulls.size() != plan.query.bounds.size()) {
    return absl::InvalidArgumentError(fmt::format("malformed message: {} pulls and {} intervals",
                                                  plan.pulls.size(), plan.query.bounds.size()));
  }
  for (const Pull& pull : plan.pulls) {
    if (pull.arm < 0 || pull.count < 1) {
      return absl::InvalidArgumentError(
          fmt::format("malformed message: arm {} is pulled {} times", pull.arm, pull.count));
    }
  }
  return ValidateQuery(plan.query);
}

}  // namespace bandana
