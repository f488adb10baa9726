#pragma once

#include "absl/status/statusor.h"
#include "bandana/algorithms/phased_elimination.h"
#include "bandana/lab/summary.h"

namespace bandana::lab {

/// A phase as one JSON object, exactly: doubles are written so that they read back bit for bit.
Json ToJson(const PhaseRecord& phase);
absl::StatusOr<PhaseRecord> PhaseFromJson(const Json& json);

/// A phase as the report's chart takes it.
Json PhaseForReport(const PhaseRecord& phase);

}  // namespace bandana::lab
