#pragma once

#include "bandana/privacy/access.h"
#include "bandana/privacy/chosen_arm.h"

namespace bandana {

/// Opens a chosen arm, so that a driver can play it for the person. Algorithms must not include this file
/// (script/check_includes): an arm that was chosen by a person's contexts says something about them.
class PlayedArm {
 public:
  static ArmId Of(const ChosenArm& chosen) { return Access::Arm(chosen); }
};

}  // namespace bandana
