#pragma once

#include <string>

#include "bandana/audit/target.h"
#include "bandana/privacy/silo_arm_sums.h"

namespace bandana::audit {

/// What an agent does that it should not.
enum class ArmSumsFault {
  kNone,
  kRewardReleasedTwice,  ///< the stream still has it after its release
  kWaitingPullRecorded,  ///< of the arm that is best by raw means: how often it was pulled tells which it is
};

/// An agent releases three arms, and then two of them: which, depends on what it has released. The adversary
/// sees both releases, with the number of pulls, and knows all but the first reward, which is at either end.
Target ArmSumsTarget(const std::string& name, const SiloArmSums& privatizer,
                     ArmSumsFault fault = ArmSumsFault::kNone);

}  // namespace bandana::audit
