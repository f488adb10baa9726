#pragma once

#include <string>

#include "bandana/audit/target.h"
#include "bandana/privacy/silo_arm_sums.h"

namespace bandana::audit {

/// Says what differs between the neighbours, or which error the agent makes.
enum class ArmSumsCase {
  kOneReward,
  /// The person of the first reward has a second one, in the second release. If the noise is set for one
  /// reward, this is an error: as if the first reward stayed in the stream and was released again.
  kSecondReward,
  /// The agent also records a pull of the arm that is best by raw means. The number of pulls reveals whether
  /// it is arm 0.
  kWaitingPullRecorded,
};

/// An agent releases three arms, and then two of them. The choice of the two depends on the first release.
/// The adversary sees both releases, with the number of pulls, and knows everything except the first reward,
/// which is at either end of its interval.
Target ArmSumsTarget(const std::string& name, const SiloArmSums& privatizer,
                     ArmSumsCase which = ArmSumsCase::kOneReward);

}  // namespace bandana::audit
