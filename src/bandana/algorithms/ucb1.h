#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/core/ids.h"

namespace bandana {

/// UCB1: each arm once, then the arm with the largest mean_k + sqrt(2 ln t / n_k), t rewards so far, n_k of
/// them of arm k; of several the first. Rewards in [0, 1]. It has no privacy: it learns from rewards as they
/// are, and so is for one agent alone, or as a baseline.
///
/// P. Auer, N. Cesa-Bianchi and P. Fischer, "Finite-time analysis of the multiarmed bandit problem", Machine
/// Learning 47, 2002, Figure 1. The index is computed as fma(sqrt(2 ln t), 1/sqrt(n_k), sum_k/n_k), in
/// doubles: where two arms' are nearer than rounding, either may be first.
class Ucb1 {
 public:
  /// An error names environment.actions.
  static absl::StatusOr<Ucb1> Create(Count arms);

  /// In O(arms), 16 of them at a time.
  ArmId Choose() const;

  /// The sum of `count` rewards of an arm; 0 <= sum <= count. Several at once are as many decisions for that
  /// arm, without a look at the others in between.
  void Learn(ArmId arm, double sum, Count count);

  Count arms() const { return static_cast<Count>(pulls_.size()); }
  Count time() const { return time_; }  ///< t
  Count pulls(ArmId arm) const { return pulls_[static_cast<std::size_t>(arm)]; }

  template <class Archive>
  void State(Archive& a) {
    a(time_, untried_);
    a.Sized(pulls_, sums_, means_, widths_);
    a.Check(untried_ == std::count(pulls_.begin(), pulls_.end(), 0), "other arms than were tried");
  }

 private:
  explicit Ucb1(Count arms);

  Count time_ = 0;
  Count untried_;
  std::vector<Count> pulls_;
  std::vector<double> sums_;
  // In whole tiles of arms. Those beyond the last are minus infinity wide of anything.
  std::vector<double> means_;
  std::vector<double> widths_;  // 1/sqrt(n)
};

}  // namespace bandana
