#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "bandana/bandit/linear_problem.h"
#include "bandana/bandit/net.h"

/// Linear problems on infinite (or very large) action sets: what is played is a net, what regret is measured
/// against is the whole set. theta has the law of LinearProblem::Draw and depends on dimension, norm, seed
/// and replicate alone, so that nets of different kinds and radii are compared on paired instances.
namespace bandana {

/// A net of the set, against the set's optimum.
absl::StatusOr<LinearProblem> NetProblem(const NetParams& net, double theta_norm, std::uint64_t seed,
                                         std::uint32_t replicate);

/// `samples` uniform draws from the set, thinned out to a net of them, against the whole set's optimum: the
/// radius holds between draws alone.
absl::StatusOr<LinearProblem> SampledNetProblem(const NetParams& net, Count samples, double theta_norm,
                                                std::uint64_t seed, std::uint32_t replicate);

/// The problem with its actions thinned out to a net of them, against its own optimum.
absl::StatusOr<LinearProblem> ThinnedProblem(const LinearProblem& problem, double radius);

}  // namespace bandana
