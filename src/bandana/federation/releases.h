#pragma once

#include "absl/container/flat_hash_map.h"
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
  enum class Journal {
    kKept,
    kNotNeeded,  ///< where messages arrive once and draws are keyed: a second call would draw the same again
  };

  explicit Releases(DpGuarantee budget_per_unit, Journal journal = Journal::kKept)
      : odometer_(budget_per_unit), keeps_journal_(journal == Journal::kKept) {}

  absl::StatusOr<Report> Once(const ReleaseKey& key, const Charge& charge, NoiseGen& noise,
                              absl::FunctionRef<absl::StatusOr<Report>(NoiseGen&)> draw);

  const Odometer& odometer() const { return odometer_; }

 private:
  Odometer odometer_;
  bool keeps_journal_;
  absl::flat_hash_map<ReleaseKey, Report> journal_;
};

}  // namespace bandana
