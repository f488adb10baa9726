#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "bandana/algorithms/user_regression.h"

namespace bandana {

/// Choosing by <x, theta> + bonus |x|_(A^-1), A the shifted Gram matrix of the arm's slot at the last
/// solution.
class UserOptimism {
 public:
  explicit UserOptimism(const UserFrame& frame)
      : inverses_(static_cast<std::size_t>(frame.slots()),
                  ActionMatrix::Identity(frame.dimension, frame.dimension)) {}

  /// After a solution.
  void Solved(const UserRegression& model);

  struct Room {
    ActionMatrix products;
    std::vector<double> scores;
  };

  /// `bonus(slot)`. The smallest index if several arms have the largest sum. In a warm-up the arm is the
  /// round's.
  template <class World, class Bonus>
  ArmId Choose(World& world, const UserPolicy& policy, const Bonus& bonus, Room& room) const {
    static_assert(World::kFull, "needs the contexts of all arms");
    if (policy.warming_up()) return policy.warm_up_arm();
    room.scores.resize(static_cast<std::size_t>(policy.frame().arms));
    world.Scores(policy.thetas(), room.scores);
    const ActionMatrix& contexts = world.Contexts();
    if (!policy.frame().multi) room.products.noalias() = contexts * inverses_[0];
    std::size_t best = 0;
    for (std::size_t arm = 0; arm < room.scores.size(); ++arm) {
      const auto row = static_cast<Eigen::Index>(policy.frame().multi ? 0 : arm);
      const std::size_t slot = policy.frame().multi ? arm : 0;
      if (policy.frame().multi) room.products.noalias() = contexts * inverses_[slot];
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
      archive.Check(each.rows() == d && each.cols() == d, "a matrix of another size");
    }
  }

 private:
  std::vector<ActionMatrix> inverses_;
};

}  // namespace bandana
