#pragma once

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "bandana/core/check.h"
#include "bandana/core/generators.h"
#include "bandana/privacy/claim.h"
#include "bandana/privacy/ledger/release_book.h"
#include "bandana/privacy/odometer.h"
#include "bandana/privacy/report.h"

namespace bandana {

/// Implements Context::ReleaseOnce for the drivers: charge, then draw, then remember the draw.
class Releases {
 public:
  enum class Journal {
    kKept,
    /// Messages arrive once, and draws are functions of their keys: a second call would draw the same again.
    kNotNeeded,
  };

  explicit Releases(DpGuarantee budget_per_unit, Journal journal = Journal::kKept)
      : odometer_(budget_per_unit), keeps_journal_(journal == Journal::kKept) {}

  /// With a ledger (it may be null), charges and draws outlive the process. A release that costs nobody
  /// anything is not written there, because it may be raw. The ledger must outlive this object.
  Releases(DpGuarantee budget_per_unit, ReleaseBook* ledger) : Releases(budget_per_unit) {
    BANDANA_CHECK(ledger == nullptr ||
                  ledger->accounts().limits().measure == Measure::kApproximateDp);  // the measure of charges
    ledger_ = ledger;
  }

  absl::StatusOr<Report> Once(const ReleaseKey& key, const Charge& charge, NoiseGen& noise,
                              absl::FunctionRef<absl::StatusOr<Report>(NoiseGen&)> draw);

  /// Makes the ledger durable. Call it before anything leaves that was drawn under grouped durability.
  absl::Status Commit() { return ledger_ == nullptr ? absl::OkStatus() : ledger_->Commit(); }

  const Odometer& odometer() const { return odometer_; }  ///< only for this process; not used with a ledger

  /// Returns the largest amount that any one unit has spent, over the life of the ledger if there is one.
  DpGuarantee spent() const {
    if (ledger_ == nullptr) return odometer_.spent();
    return {ledger_->accounts().largest().amount, ledger_->accounts().largest().delta};
  }

 private:
  Odometer odometer_;
  bool keeps_journal_;
  ReleaseBook* ledger_ = nullptr;
  absl::flat_hash_map<ReleaseKey, Report> journal_;
};

}  // namespace bandana
