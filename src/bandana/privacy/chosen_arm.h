#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "bandana/core/ids.h"

namespace bandana {

/// The arm that a player chose for one person in one round, and the arm's vector: the person's context. Both
/// are sealed, as her reward is: the arm depends on her contexts too. Anyone may make one; only mechanisms,
/// federation/turn.h and, for drivers, federation/played_arm.h open it.
class ChosenArm {
 public:
  explicit ChosenArm(std::size_t dimension) : x_(dimension) {}
  ChosenArm(ArmId arm, std::vector<double> x) : arm_(arm), x_(std::move(x)) {}

  std::size_t dimension() const { return x_.size(); }

 private:
  friend class Access;
  friend class StateAccess;  // saved with the player that holds it
  template <class Archive>
  void State(Archive& a) {
    a(arm_);
    a.Sized(x_);
  }

  ArmId arm_ = 0;
  std::vector<double> x_;
};

}  // namespace bandana
