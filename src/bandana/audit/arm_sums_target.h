#pragma once

#include <string>

#include "bandana/audit/target.h"
#include "bandana/privacy/silo_arm_sums.h"

namespace bandana::audit {

/// A planted error of the agent.
enum class ArmSumsFault {
  kNone,
  /// After its release, the first reward stays in the stream and is released again.
  kRewardReleasedTwice,
  /// The agent also records a pull of the arm that is best by raw means. The number of pulls reveals whether
  /// it is arm 0.
  kWaitingPullRecorded,
};

/// An agent releases three arms, and then two of them. The choice of the two depends on the first release.
/// The adversary sees both releases, with the number of pulls, and knows everything except the first reward,
/// which is at either end of its interval.
Target ArmSumsTarget(const std::string& name, const SiloArmSums& privatizer,
                     ArmSumsFault fault = ArmSumsFault::kNone);

}  // namespace bandana::audit
