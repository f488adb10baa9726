#pragma once

#include <unordered_map>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "bandana/core/generators.h"
#include "bandana/privacy/claim.h"
#include "bandana/privacy/odometer.h"
#include "bandana/privacy/report.h"

namespace bandana {

/// Context::ReleaseOnce, shared by the drivers: charge, then draw, then remember the draw.
class Releases {
 public:
  explicit Releases(DpGuarantee budget_per_unit) : odometer_(budget_per_unit) {}

  absl::StatusOr<Report> Once(const ReleaseKey& key, const Charge& charge, NoiseGen& noise,
                              absl::FunctionRef<absl::StatusOr<Report>(NoiseGen&)> draw);

  const Odometer& odometer() const { return odometer_; }

 private:
  Odometer odometer_;
  std::unordered_map<ReleaseKey, Report> journal_;
};

}  // namespace bandana
