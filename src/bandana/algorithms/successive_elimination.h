#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/core/ids.h"

namespace bandana {

struct SuccessiveEliminationParams {
  Count arms = 0;     ///< K
  Count horizon = 0;  ///< T
  Count block = 1;    ///< pulls of each arm in a sweep; 1 in the paper
};

/// Sweeps over the active arms; after each, arm k is dropped if the best mean is above its own by
/// 2 c_n, c_n = sqrt(ln(4 K n^2 T)/(2 n)), n the pulls that every active arm has had. The last one is played
/// to the end. Rewards in [0, 1]. It has no privacy: it learns from rewards as they are, and so is for one
/// agent alone, or as a baseline.
///
/// E. Even-Dar, S. Mannor and Y. Mansour, "Action elimination and stopping conditions for the multi-armed
/// bandit and reinforcement learning problems", JMLR 7, 2006, Algorithm 3, with failure 1/T: by Hoeffding,
/// the mean of n rewards is off by c_n or more with probability at most 2 exp(-2 n c_n^2) = 1/(2 K n^2 T);
/// over all arms and all n that is pi^2/(12 T) < 1/T. Otherwise the best arm's mean is never 2 c_n below
/// another, so that it stays, and an arm whose gap is 4 c_n or more goes. Larger blocks look at fewer n, so
/// the same holds.
class SuccessiveElimination {
 public:
  /// Errors name environment.actions, horizon or algorithm.block.
  static absl::StatusOr<SuccessiveElimination> Create(const SuccessiveEliminationParams& params);

  ArmId Choose() const { return active_[next_]; }

  /// How many pulls of that arm are due before another's turn: what one Learn may bring at most. No end to
  /// them once it is the only one.
  Count Due() const {
    return active_.size() == 1 ? std::numeric_limits<Count>::max() : params_.block - pulled_;
  }

  /// The sum of `count` rewards of the arm that Choose gave; 0 <= sum <= count <= Due().
  void Learn(ArmId arm, double sum, Count count);

  /// In increasing order.
  const std::vector<ArmId>& active() const { return active_; }
  Count sweeps() const { return sweeps_; }

  template <class Archive>
  void State(Archive& a) {
    a.Same(params_.arms, "number of arms");
    a.Same(params_.horizon, "horizon");
    a.Same(params_.block, "block");
    a(active_, sums_, next_, pulled_, sweeps_);
    const auto is_arm = [&](ArmId arm) { return arm >= 0 && arm < params_.arms; };
    a.Check(std::all_of(active_.begin(), active_.end(), is_arm) && sums_.size() == active_.size() &&
                next_ < active_.size() && pulled_ >= 0 && pulled_ < params_.block,
            "other arms than there are");
  }

 private:
  explicit SuccessiveElimination(const SuccessiveEliminationParams& params);
  void EndSweep();

  SuccessiveEliminationParams params_;
  std::vector<ArmId> active_;
  std::vector<double> sums_;  // of the active arms' rewards, in their order
  std::size_t next_ = 0;      // whose turn it is
  Count pulled_ = 0;          // of that arm in this sweep
  Count sweeps_ = 0;
};

}  // namespace bandana
