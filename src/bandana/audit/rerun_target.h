#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "bandana/audit/target.h"
#include "bandana/privacy/guarantee.h"

namespace bandana::audit {

/// On which ledger a server is started the second time. Another ledger does not know that the data were
/// released before: the server draws again, and the claim of one release fails.
enum class Rerun { kSameLedger, kAnotherLedger };

/// A server that releases the same averages in two runs.
absl::StatusOr<Target> RerunTarget(const std::string& name, DpGuarantee nominal, Rerun rerun);

}  // namespace bandana::audit
