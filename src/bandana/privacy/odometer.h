#pragma once

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "bandana/privacy/claim.h"

namespace bandana {

/// What each unit has spent, by basic composition and rounded up, against one budget. A charge that any unit
/// cannot pay is refused whole (kResourceExhausted) and changes nothing.
class Odometer {
 public:
  explicit Odometer(DpGuarantee budget_per_unit) : budget_(budget_per_unit) {}

  absl::Status Add(const Charge& charge);

  /// The largest spending of any one unit: by parallel composition, the guarantee of everything released.
  DpGuarantee spent() const { return largest_; }
  std::size_t units() const { return spent_.size(); }

 private:
  DpGuarantee budget_;
  DpGuarantee largest_{0, 0};
  absl::flat_hash_map<NodeId, DpGuarantee> spent_;
};

}  // namespace bandana
