#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "bandana/bandit/contextual_problem.h"
#include "bandana/lab/settings.h"

/// environment.kind = "contextual-linear": contextual bandits with a known context distribution (P2, Section
/// III-A).
namespace bandana::lab {

bool HasContexts(const Settings& settings);

/// The law of the contexts and the policies. g is computed once for all points and replicates that share it.
absl::StatusOr<std::shared_ptr<const PolicySet>> MakePolicies(const Settings& settings);

/// The instance of a replicate.
absl::StatusOr<std::shared_ptr<const ContextualProblem>> MakeContextualProblem(const Settings& settings,
                                                                               std::uint32_t replicate);

}  // namespace bandana::lab
