#pragma once

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "bandana/core/generators.h"
#include "bandana/privacy/claim.h"
#include "bandana/privacy/ledger/ledger.h"
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

  /// With a ledger, if there is one, what is charged and drawn outlives the process. What costs nobody
  /// anything is not written there: it may be raw. The ledger must outlive this.
  Releases(DpGuarantee budget_per_unit, Ledger* ledger) : Releases(budget_per_unit) { ledger_ = ledger; }

  absl::StatusOr<Report> Once(const ReleaseKey& key, const Charge& charge, NoiseGen& noise,
                              absl::FunctionRef<absl::StatusOr<Report>(NoiseGen&)> draw);

  /// Before anything leaves that came from a ledger with grouped durability.
  absl::Status Commit() { return ledger_ == nullptr ? absl::OkStatus() : ledger_->Commit(); }

  const Odometer& odometer() const { return odometer_; }  ///< of this process, without a ledger

  /// The most of any one unit, over the life of the ledger if there is one.
  DpGuarantee spent() const {
    if (ledger_ == nullptr) return odometer_.spent();
    return {ledger_->accounts().largest().amount, ledger_->accounts().largest().delta};
  }

 private:
  Odometer odometer_;
  bool keeps_journal_;
  Ledger* ledger_ = nullptr;
  absl::flat_hash_map<ReleaseKey, Report> journal_;
};

}  // namespace bandana
