#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "bandana/algorithms/users/user_regression.h"

namespace bandana {

/// Chooses the arm with the largest <x, theta> + bonus |x|_(A^-1), where A is the shifted Gram matrix of the
/// arm's slot at the last solution.
class UserOptimism {
 public:
  explicit UserOptimism(const UserModelShape& shape)
      : inverses_(static_cast<std::size_t>(shape.slots()),
                  ActionMatrix::Identity(shape.dimension, shape.dimension)) {}

  /// Takes over the Gram matrices of a solution that was just made.
  void Solved(const UserRegression& model);

  struct Room {
    ActionMatrix products;
    std::vector<double> scores;
  };

  /// Returns the first arm with the largest sum, or the arm of the round in a warm-up. `bonus(slot)` is the
  /// bonus of a slot.
  template <class World, class Bonus>
  ArmId Choose(World& world, const UserPolicy& policy, const Bonus& bonus, Room& room) const {
    if (policy.warming_up()) return policy.warm_up_arm();
    room.scores.resize(static_cast<std::size_t>(policy.shape().arms));
    world.Scores(policy.thetas(), room.scores);
    const ActionMatrix& contexts = world.Contexts();
    if (!policy.shape().multi) room.products.noalias() = contexts * inverses_[0];
    std::size_t best = 0;
    for (std::size_t arm = 0; arm < room.scores.size(); ++arm) {
      const auto row = static_cast<Eigen::Index>(policy.shape().multi ? 0 : arm);
      const std::size_t slot = policy.shape().multi ? arm : 0;
      if (policy.shape().multi) room.products.noalias() = contexts * inverses_[slot];
      const Eigen::Index d = contexts.cols();
      const double squares = Dot(contexts.data() + row * d, room.products.data() + row * d, d);
      room.scores[arm] += bonus(static_cast<Count>(slot)) * std::sqrt(std::max(0.0, squares));
      if (room.scores[arm] > room.scores[best]) best = arm;
    }
    return static_cast<ArmId>(best);
  }

  template <class Archive>
  void State(Archive& archive) {
    const Eigen::Index d = inverses_.front().rows();
    archive.Each(inverses_);
    for (const ActionMatrix& each : inverses_) {
      archive.Check(each.rows() == d && each.cols() == d, "a matrix has the wrong size");
    }
  }

 private:
  std::vector<ActionMatrix> inverses_;
};

}  // namespace bandana
