#include "bandana/privacy/odometer.h"

#include <algorithm>

#include "bandana/privacy/sum_up.h"
#include "fmt/format.h"

namespace bandana {

absl::Status Odometer::Add(const Charge& charge) {
  const auto total = [&](NodeId unit) {
    const auto it = spent_.find(unit);
    const DpGuarantee before = it == spent_.end() ? DpGuarantee{0, 0} : it->second;
    return DpGuarantee{SumUp(before.epsilon, charge.guarantee.epsilon),
                       SumUp(before.delta, charge.guarantee.delta)};
  };
  for (const NodeId unit : charge.units) {
    const DpGuarantee after = total(unit);
    if (!(after.epsilon <= budget_.epsilon && after.delta <= budget_.delta)) {
      return absl::ResourceExhaustedError(
          fmt::format("client {} would have spent epsilon {} and delta {} of a budget of {} and {}",
                      unit.value, after.epsilon, after.delta, budget_.epsilon, budget_.delta));
    }
  }
  for (const NodeId unit : charge.units) {
    const DpGuarantee after = total(unit);
    spent_[unit] = after;
    largest_ = {std::max(largest_.epsilon, after.epsilon), std::max(largest_.delta, after.delta)};
  }
  return absl::OkStatus();
}

}  // namespace bandana
