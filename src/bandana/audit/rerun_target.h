#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "bandana/audit/target.h"
#include "bandana/privacy/guarantee.h"

namespace bandana::audit {

/// On which ledger a server is started again. Another ledger does not know that the data were released
/// before: the server draws again, and the claim of one release fails.
enum class Rerun { kSameLedger, kAnotherLedger };

/// A server that is started `runs` times and releases the same averages each time.
absl::StatusOr<Target> RerunTarget(const std::string& name, DpGuarantee nominal, Rerun rerun, int runs);

}  // namespace bandana::audit
