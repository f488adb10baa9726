#include "bandana/bandit/environment.h"

namespace bandana {

absl::Status Environment::AnswerCrowd(NodeId, Count, Epoch, ArmId, std::vector<RewardSum>&) {
  return absl::UnimplementedError("this environment answers clients one by one");
}

}  // namespace bandana
