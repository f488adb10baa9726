#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "bandana/privacy/claim.h"
#include "bandana/privacy/range_map.h"

namespace bandana {

/// What each unit has spent, by basic composition and rounded up, against one budget. A charge that any unit
/// cannot pay is refused whole (kResourceExhausted) and changes nothing. Neighbours who have spent the same
/// are kept as one, so a charge of many costs as much as one of a few.
class Odometer {
 public:
  explicit Odometer(DpGuarantee budget_per_unit) : budget_(budget_per_unit) {}

  absl::Status Add(const Charge& charge);

  /// The largest spending of any one unit: by parallel composition, the guarantee of everything released.
  DpGuarantee spent() const { return largest_; }
  std::uint64_t units() const { return units_; }  ///< that were ever charged

 private:
  DpGuarantee budget_;
  DpGuarantee largest_{0, 0};
  std::uint64_t units_ = 0;
  RangeMap<DpGuarantee> spent_;
};

}  // namespace bandana
