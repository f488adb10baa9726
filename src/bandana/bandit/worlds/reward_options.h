#pragma once

#include <string>
#include <vector>

#include "bandana/bandit/reward_model.h"
#include "bandana/core/options.h"

namespace bandana {

/// Adds the option "reward" to the options of a world whose parameters have a field `reward`. The kinds are
/// offered in this order.
template <class P>
void AddRewardOptions(OptionsFor<P>& options, const std::vector<RewardKind>& kinds) {
  std::vector<Spelling<RewardKind>> spellings;
  for (const RewardKind kind : kinds) {
    switch (kind) {
      case RewardKind::kGaussian:
        spellings.push_back({"gaussian", kind, "A reward is normal, with the standard deviation reward_sd."});
        break;
      case RewardKind::kRademacher:
        spellings.push_back({"rademacher", kind, "A reward is 1 or -1."});
        break;
      case RewardKind::kBernoulli:
        spellings.push_back({"bernoulli", kind, "A reward is 1 or 0."});
        break;
      case RewardKind::kUniform:
        spellings.push_back(
            {"uniform", kind, "A reward is uniform around its mean, as wide as [-1, 1] allows."});
        break;
    }
  }
  options.template Choice<RewardKind>("reward", Claims::kKept, &P::reward, std::move(spellings),
                                      "The law of a reward, given its mean.");
}

}  // namespace bandana
