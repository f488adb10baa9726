#include "bandana/federation/drive.h"

#include <cmath>

#include "fmt/format.h"

namespace bandana {

absl::Status ValidateQuery(const MeanQuery& query) {
  for (const Interval& bound : query.bounds) {
    if (!(std::isfinite(bound.low) && std::isfinite(bound.high) && bound.low <= bound.high)) {
      return absl::InvalidArgumentError(
          fmt::format("malformed message: the interval from {} to {} is not valid", bound.low, bound.high));
    }
  }
  for (const double entry : query.map.entries) {
    if (!std::isfinite(entry)) {
      return absl::InvalidArgumentError(
          fmt::format("malformed message: the map has the entry {}, which is not finite", entry));
    }
  }
  return absl::OkStatus();
}

absl::Status ValidatePlan(const Plan& plan) {
  if (plan.pulls.empty() || plan.pulls.size() != plan.query.bounds.size()) {
    return absl::InvalidArgumentError(
        fmt::format("malformed message: a plan needs one or more pulls and an interval for each, but it has "
                    "{} pulls and {} intervals",
                    plan.pulls.size(), plan.query.bounds.size()));
  }
  for (const Pull& pull : plan.pulls) {
    if (pull.arm < 0 || pull.count < 1) {
      return absl::InvalidArgumentError(
          fmt::format("malformed message: arm {} is pulled {} times", pull.arm, pull.count));
    }
  }
  const std::vector<Count>& dealt = plan.query.dealt;
  if (!dealt.empty() && dealt.size() != plan.pulls.size()) {
    return absl::InvalidArgumentError(
        fmt::format("malformed message: a plan has {} pulls, but it is dealt out in {} parts",
                    plan.pulls.size(), dealt.size()));
  }
  return ValidateQuery(plan.query);
}

absl::StatusOr<const Plan*> PlanOf(const Message& message) {
  if (const auto* task = std::get_if<Task>(&message.body)) {
    BANDANA_RETURN_IF_ERROR(ValidatePlan(*task->plan));
    if (task->part < 0 || static_cast<std::size_t>(task->part) >= task->plan->query.dealt.size()) {
      return absl::InvalidArgumentError(
          fmt::format("malformed message: part {} does not exist; the plan has {} parts", task->part,
                      task->plan->query.dealt.size()));
    }
    return task->plan.get();
  }
  const auto* plan = std::get_if<std::shared_ptr<const Plan>>(&message.body);
  if (plan == nullptr) return absl::InvalidArgumentError("a client accepts only plans and tasks");
  BANDANA_RETURN_IF_ERROR(ValidatePlan(**plan));
  if (!(*plan)->query.dealt.empty()) {
    return absl::InvalidArgumentError(
        "malformed message: a client must get one part of a dealt plan, not the whole plan");
  }
  return plan->get();
}

}  // namespace bandana
