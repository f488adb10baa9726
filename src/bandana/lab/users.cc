#include "bandana/lab/users.h"

#include <memory>
#include <utility>

#include "bandana/bandit/user_rounds.h"
#include "bandana/core/status.h"
#include "bandana/lab/replay.h"
#include "bandana/lab/user_parts.h"
#include "bandana/lab/user_run.h"

namespace bandana::lab {
namespace {

// Optimists look at the contexts of all arms; the others at their scores alone.
template <class Learner>
constexpr bool kLooksAtAll = std::is_same_v<Learner, LdpUcb> || std::is_same_v<Learner, LdpGloc>;

}  // namespace

absl::Status CheckUsers(const Settings& settings) {
  if (IsReplay(settings)) return CheckReplay(settings);
  BANDANA_RETURN_IF_ERROR(MakeGlmProblem(settings, 0).status());
  BANDANA_ASSIGN_OR_RETURN(const UserSpace space, MakeUserSpace(settings));
  return WithUserLearner(settings, space, [](auto&) { return absl::OkStatus(); });
}

absl::StatusOr<std::vector<Claim>> UsersClaims(const Settings& settings) {
  if (IsReplay(settings)) return ReplayClaims(settings);
  BANDANA_ASSIGN_OR_RETURN(const UserSpace space, MakeUserSpace(settings));
  return UserClaims(settings, space);
}

absl::StatusOr<std::vector<Checkpoint>> RunUsers(const Settings& settings, std::uint32_t replicate,
                                                 const std::atomic<bool>& stop) {
  if (IsReplay(settings)) return RunReplay(settings, replicate, stop);
  BANDANA_ASSIGN_OR_RETURN(const std::shared_ptr<const GlmProblem> problem,
                           MakeGlmProblem(settings, replicate));
  BANDANA_ASSIGN_OR_RETURN(const UserSpace space, MakeUserSpace(settings));
  const auto seed = static_cast<std::uint64_t>(settings.Integer("seed"));
  return WithUserLearner(settings, space,
                         [&]<class Learner>(Learner& learner) -> absl::StatusOr<std::vector<Checkpoint>> {
                           if constexpr (!kLooksAtAll<Learner>) {
                             if (ProjectedRounds::Accepts(*problem)) {
                               ProjectedRounds world(problem, seed, replicate);
                               return RunUserLearner(settings, replicate, learner, world, stop);
                             }
                           }
                           DrawnRounds world(problem, seed, replicate);
                           return RunUserLearner(settings, replicate, learner, world, stop);
                         });
}

}  // namespace bandana::lab
