#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "bandana/bandit/linear_problem.h"
#include "bandana/bandit/net.h"

/// Linear problems on infinite (or very large) action sets. The learner plays a net; regret is measured
/// against the whole set. theta has the distribution of LinearProblem::Draw and depends only on dimension,
/// norm, seed and replicate, so nets of different kinds and radii are compared on paired instances.
namespace bandana {

/// Returns a problem on a net of the set, with the set's optimum.
absl::StatusOr<LinearProblem> NetProblem(const NetParams& net, double theta_norm, std::uint64_t seed,
                                         std::uint32_t replicate);

/// Draws `samples` actions uniformly from the set and thins them out to a net of the sample. The optimum is
/// that of the whole set. The radius holds only for the drawn actions.
absl::StatusOr<LinearProblem> SampledNetProblem(const NetParams& net, Count samples, double theta_norm,
                                                std::uint64_t seed, std::uint32_t replicate);

/// Returns the problem with its actions thinned out to a net of them. The optimum is that of the given
/// problem.
absl::StatusOr<LinearProblem> ThinnedProblem(const LinearProblem& problem, double radius);

}  // namespace bandana
