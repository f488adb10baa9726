#include "bandana/algorithms/users/user_optimism.h"

namespace bandana {

void UserOptimism::Solved(const UserRegression& model) {
  for (std::size_t slot = 0; slot < inverses_.size(); ++slot) {
    const Matrix& factor = model.factor(static_cast<Count>(slot));
    inverses_[slot].setIdentity();
    factor.triangularView<Eigen::Lower>().solveInPlace(inverses_[slot]);
    factor.triangularView<Eigen::Lower>().transpose().solveInPlace(inverses_[slot]);
  }
}

}  // namespace bandana
