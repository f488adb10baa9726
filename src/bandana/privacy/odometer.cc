#include "bandana/privacy/odometer.h"

#include <algorithm>

#include "bandana/privacy/sum_up.h"
#include "fmt/format.h"

namespace bandana {

absl::Status Odometer::Add(const Charge& charge) {
  const auto after = [&](const DpGuarantee* before) {
    const DpGuarantee spent = before == nullptr ? DpGuarantee{0, 0} : *before;
    return DpGuarantee{SumUp(spent.epsilon, charge.guarantee.epsilon),
                       SumUp(spent.delta, charge.guarantee.delta)};
  };
  absl::Status refused;
  for (const UnitRanges::Range& range : charge.units.ranges()) {
    spent_.Visit(range.first, range.last, [&](std::uint32_t first, std::uint32_t, const DpGuarantee* before) {
      const DpGuarantee total = after(before);
      if (!refused.ok() || (total.epsilon <= budget_.epsilon && total.delta <= budget_.delta)) return;
      refused = absl::ResourceExhaustedError(
          fmt::format("client {} would have spent epsilon {} and delta {} of a budget of {} and {}", first,
                      total.epsilon, total.delta, budget_.epsilon, budget_.delta));
    });
  }
  if (!refused.ok()) return refused;
  for (const UnitRanges::Range& range : charge.units.ranges()) {
    spent_.Visit(range.first, range.last,
                 [&](std::uint32_t first, std::uint32_t last, const DpGuarantee* before) {
                   if (before == nullptr) units_ += std::uint64_t{last} - first + 1;
                 });
    spent_.Change(range.first, range.last, [&](const DpGuarantee* before) {
      const DpGuarantee total = after(before);
      largest_ = {std::max(largest_.epsilon, total.epsilon), std::max(largest_.delta, total.delta)};
      return total;
    });
  }
  return absl::OkStatus();
}

}  // namespace bandana
