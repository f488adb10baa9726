#pragma once

#include <concepts>
#include <cstddef>

#include "bandana/bandit/decision_set.h"
#include "bandana/privacy/access.h"
#include "bandana/privacy/chosen_arm.h"
#include "bandana/privacy/raw.h"

namespace bandana {

/// One person's turn: a player chooses an arm for her and learns neither her contexts nor the arm.
class Turn {
 public:
  /// Chooses by ArmId Choose(const DecisionSet<Scalar>&) const of the policy. The policy is constant here, so
  /// that it does not keep what it sees by mistake. It must follow from released values alone, or from a
  /// Declassify.
  template <class Policy, class Scalar>
    requires requires(const Policy& policy, const DecisionSet<Scalar>& set) {
      { policy.Choose(set) } -> std::same_as<ArmId>;
    }
  static void Choose(const Policy& policy, const Raw<DecisionSet<Scalar>>& sealed, ChosenArm& chosen) {
    const DecisionSet<Scalar>& set = Access::Open(sealed);
    const ArmId arm = policy.Choose(set);
    Access::Arm(chosen) = arm;
    auto& x = Access::Context(chosen);
    for (std::size_t j = 0; j < x.size(); ++j) {
      x[j] = static_cast<double>(set.at(arm, static_cast<Eigen::Index>(j)));
    }
  }
};

}  // namespace bandana
