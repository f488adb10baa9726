#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "bandana/privacy/claim.h"
#include "bandana/privacy/range_map.h"

namespace bandana {

/// Adds up what each unit has spent, by basic composition and rounded up, and compares it with one budget. A
/// charge that exceeds the budget of any unit fails (kResourceExhausted) and changes nothing. Consecutive
/// units that have spent the same are stored as one range, so a charge to many units costs as much as one to
/// a few.
class Odometer {
 public:
  explicit Odometer(DpGuarantee budget_per_unit) : budget_(budget_per_unit) {}

  absl::Status Add(const Charge& charge);

  /// Returns the largest spending of any unit. By parallel composition it is the guarantee of everything
  /// released.
  DpGuarantee spent() const { return largest_; }
  std::uint64_t units() const { return units_; }  ///< the number of units that were ever charged

 private:
  DpGuarantee budget_;
  DpGuarantee largest_{0, 0};
  std::uint64_t units_ = 0;
  RangeMap<DpGuarantee> spent_;
};

}  // namespace bandana
