#pragma once

#include <map>
#include <string>

#include "bandana/core/ids.h"
#include "bandana/core/reward.h"

namespace bandana {

/// The average reward per round of a policy, with a confidence interval of 95 %. NaN: nothing is known.
struct PolicyValue {
  double value;
  double low;
  double high;

  /// Adds it to a checkpoint's metrics: value, value_low and value_high.
  void AddTo(std::map<std::string, double>& series) const;
};

/// Returns what n rounds without an event still leave open at the level of 95 % (the rule of three), for
/// rewards in this interval.
inline double ValuePad(const Interval& rewards, double n) { return 3 * (rewards.high - rewards.low) / n; }

/// Adds up the rewards of rounds that were played.
class EarnedRewards {
 public:
  void Add(double reward) {
    ++rounds_;
    sum_ += reward;
    squares_ += reward * reward;
  }

  Count rounds() const { return rounds_; }

  /// Returns the average reward. Rewards need not be independent of each other, since the learner's choices
  /// are not. But after their conditional means are subtracted they are a martingale, and the interval is
  /// that of the central limit theorem. Few rounds, or rewards that are all alike, tell less than that, so
  /// the interval is widened by ValuePad.
  PolicyValue Value(const Interval& rewards) const;

 private:
  Count rounds_ = 0;
  double sum_ = 0;
  double squares_ = 0;
};

}  // namespace bandana
