#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/core/ids.h"

namespace bandana {

/// UCB1 plays each arm once, and then the arm with the largest mean_k + bonus sqrt(2 ln t / n_k), where t
/// counts all rewards so far and n_k those of arm k. In the paper the bonus is 1. Of several such arms it
/// plays the first. Rewards are in [0, 1]. It has no privacy: it learns from rewards as they are. So it is a
/// baseline for one agent by itself.
///
/// P. Auer, N. Cesa-Bianchi and P. Fischer, "Finite-time analysis of the multiarmed bandit problem", Machine
/// Learning 47, 2002, Figure 1. The index is computed as fma(bonus sqrt(2 ln t), 1/sqrt(n_k), sum_k/n_k) in
/// double precision, so either of two arms may come first if their indices differ by less than rounding.
class Ucb1 {
 public:
  /// Fails if the number of arms is out of range, or if the bonus is negative or not finite.
  static absl::StatusOr<Ucb1> Create(Count arms, double bonus = 1);

  /// Takes O(arms) time and looks at 16 arms at a time.
  ArmId Choose() const;

  /// Takes the sum of `count` rewards of an arm; 0 <= sum <= count. Several rewards at once count as so many
  /// decisions for that arm.
  void Learn(ArmId arm, double sum, Count count);

  Count arms() const { return static_cast<Count>(pulls_.size()); }
  Count time() const { return time_; }  ///< t
  Count pulls(ArmId arm) const { return pulls_[static_cast<std::size_t>(arm)]; }

  template <class Archive>
  void State(Archive& a) {
    a.Same(bonus_, "bonus");
    a(time_, untried_);
    a.Sized(pulls_, sums_, means_, widths_);
    a.Check(untried_ == std::count(pulls_.begin(), pulls_.end(), 0),
            "its number of untried arms does not match its pulls");
  }

 private:
  Ucb1(Count arms, double bonus);

  double bonus_;
  Count time_ = 0;
  Count untried_;
  std::vector<Count> pulls_;
  std::vector<double> sums_;
  // These have whole tiles of arms. Beyond the last arm, means are minus infinity.
  std::vector<double> means_;
  std::vector<double> widths_;  // 1/sqrt(n)
};

}  // namespace bandana
