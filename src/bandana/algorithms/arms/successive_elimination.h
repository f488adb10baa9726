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
  double bonus = 1;   ///< the factor of the confidence width; 1 in the paper
};

/// Successive elimination sweeps over the active arms. After a sweep every active arm has had n pulls, and an
/// arm is dropped if its mean is at least 2 c_n below the best, where c_n = bonus sqrt(ln(4 K n^2 T)/(2 n)).
/// The last arm is played to the end. Rewards are in [0, 1]. It has no privacy: it learns from rewards as
/// they are. So it is a baseline for one agent by itself.
///
/// E. Even-Dar, S. Mannor and Y. Mansour, "Action elimination and stopping conditions for the multi-armed
/// bandit and reinforcement learning problems", JMLR 7, 2006, Algorithm 3, with failure probability 1/T. By
/// Hoeffding, if the bonus is 1, the mean of n rewards is off by c_n or more with probability at most
/// 2 exp(-2 n c_n^2) = 1/(2 K n^2 T); over all arms and all n these add up to pi^2/(12 T) < 1/T. Otherwise
/// the best arm's mean is never 2 c_n below another, so that it stays, and an arm whose gap is 4 c_n or more
/// is dropped. Larger blocks look at fewer n, so the same holds for them.
class SuccessiveElimination {
 public:
  /// Fails if one of the parameters is out of range.
  static absl::StatusOr<SuccessiveElimination> Create(const SuccessiveEliminationParams& params);

  ArmId Choose() const { return active_[next_]; }

  /// Returns how many pulls of that arm are due before another arm's turn, which is the most that one Learn
  /// may bring. There is no limit once it is the only arm.
  Count Due() const {
    return active_.size() == 1 ? std::numeric_limits<Count>::max() : params_.block - pulled_;
  }

  /// Takes the sum of `count` rewards of the arm that Choose returned; 0 <= sum <= count <= Due().
  void Learn(ArmId arm, double sum, Count count);

  const std::vector<ArmId>& active() const { return active_; }  ///< in increasing order
  Count sweeps() const { return sweeps_; }

  template <class Archive>
  void State(Archive& a) {
    a.Same(params_.arms, "number of arms");
    a.Same(params_.horizon, "horizon");
    a.Same(params_.block, "block length");
    a.Same(params_.bonus, "bonus");
    a(active_, sums_, next_, pulled_, sweeps_);
    const auto is_arm = [&](ArmId arm) { return arm >= 0 && arm < params_.arms; };
    a.Check(std::all_of(active_.begin(), active_.end(), is_arm) && sums_.size() == active_.size() &&
                next_ < active_.size() && pulled_ >= 0 && pulled_ < params_.block,
            "its arms or counters are not valid for this run");
  }

 private:
  explicit SuccessiveElimination(const SuccessiveEliminationParams& params);
  void EndSweep();

  SuccessiveEliminationParams params_;
  std::vector<ArmId> active_;
  std::vector<double> sums_;  // rewards of each active arm, in the order of active_
  std::size_t next_ = 0;      // the active arm whose turn it is
  Count pulled_ = 0;          // its pulls in this sweep
  Count sweeps_ = 0;
};

}  // namespace bandana
