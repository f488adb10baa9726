#pragma once

#include "bandana/bandit/clipping.h"
#include "bandana/bandit/link.h"
#include "bandana/bandit/reward_model.h"
#include "bandana/lab/settings.h"

namespace bandana::lab {

/// What environment.reward and its scale say.
RewardModel MakeRewardModel(const Settings& settings);

/// How means follow from <theta, x>: environment.link, or the identity where there is none.
Link LinkOf(const Settings& settings);

/// How clients clip what they report.
ClipRule MakeClipRule(const Settings& settings);

}  // namespace bandana::lab
