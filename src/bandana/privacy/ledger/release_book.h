#pragma once

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/privacy/claim.h"
#include "bandana/privacy/ledger/accounts.h"
#include "bandana/privacy/ledger/record.h"
#include "bandana/privacy/report.h"

namespace bandana {

/// Charges releases against the budgets of a deployment, and keeps charges and draws where they outlive the
/// process: in a file (Ledger), or in the store of a role. Only one thread may use it at a time.
class ReleaseBook {
 public:
  /// The cost of a release for each unit whose data are in it.
  struct Cost {
    DpGuarantee guarantee;
    Loss loss;  ///< in the measure of the book
  };

  virtual ~ReleaseBook() = default;

  /// Returns the draw of an earlier call with this key, or makes a new draw and charges it. Fails with
  /// kResourceExhausted if a budget is too small; then nothing is drawn and nothing is written. A draw that
  /// fails costs nothing, since nothing of it leaves. After the book could not be written, every call returns
  /// that error.
  virtual absl::StatusOr<Report> Once(const ReleaseKey& key, const Cost& cost, const UnitRanges& units,
                                      absl::FunctionRef<absl::StatusOr<Report>()> draw) = 0;

  /// Makes all charges since the last call durable.
  virtual absl::Status Commit() = 0;

  virtual const Accounts& accounts() const = 0;
  virtual const LedgerHead& head() const = 0;
};

}  // namespace bandana
