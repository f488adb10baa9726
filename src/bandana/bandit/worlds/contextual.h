#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "bandana/bandit/contextual_problem.h"
#include "bandana/bandit/reward_model.h"
#include "bandana/bandit/world_kind.h"

/// The kind "contextual-linear" for slots: contextual bandits with a known context distribution (P2, Section
/// III-A). Each client has a context of K actions; an arm of the bandit is a policy that picks one of them.
namespace bandana {

enum class ContextSource { kSphere, kGaussian, kClusters, kFile };

/// How the policies are spread over the directions of theta.
enum class PolicySpread {
  kNumber,  ///< `policies` of them: equal angles in the plane, draws above
  kNet,     ///< a net that is fine enough for the horizon
};

struct ContextualWorldParams {
  ContextSource contexts = ContextSource::kSphere;
  std::string file = {};  ///< of the contexts
  Count dimension = 0;
  Count actions = 0;  ///< K, of one context
  PolicySpread policy_spread = PolicySpread::kNumber;
  std::optional<Count> policies = {};  ///< empty: 256 in the plane, 4096 above
  Count context_samples = 0;           ///< 0: the learner knows the distribution of contexts exactly
  double theta_norm = 1;
  RewardKind reward = RewardKind::kRademacher;
  std::optional<Count> population = {};
};

/// Policies that are a net have at most this many numbers in all.
inline constexpr Count kMostPolicyEntries = Count{1} << 20;

/// Returns the distribution of the contexts and the policies. They are computed once for all replicates that
/// share them.
absl::StatusOr<std::shared_ptr<const PolicySet>> MakePolicies(const ContextualWorldParams& params,
                                                              const WorldDraw& draw);

absl::StatusOr<std::unique_ptr<World>> MakeContextualWorld(const ContextualWorldParams& params,
                                                           const WorldDraw& draw);

WorldKind ContextualWorldKind();

}  // namespace bandana
