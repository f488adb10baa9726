#pragma once

#include "absl/status/statusor.h"
#include "bandana/federation/observations.h"
#include "bandana/lab/summary.h"

namespace bandana::lab {

/// Returns a phase as one JSON object. Numbers are written so that PhaseFromJson reads back the same bits.
Json ToJson(const PhaseRecord& phase);
absl::StatusOr<PhaseRecord> PhaseFromJson(const Json& json);

/// Returns the numbers of a phase that the report's chart shows.
Json PhaseForReport(const PhaseRecord& phase);

}  // namespace bandana::lab
