#include "bandana/bandit/policy_value.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bandana {
namespace {

constexpr double kSpreads = 1.959963984540054;  // of a normal law, for a two-sided interval of 95 %

}  // namespace

void PolicyValue::AddTo(std::map<std::string, double>& series) const {
  series["value"] = value;
  series["value_low"] = low;
  series["value_high"] = high;
}

PolicyValue EarnedRewards::Value(const Interval& rewards) const {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  if (rounds_ == 0) return {kNan, kNan, kNan};
  const auto n = static_cast<double>(rounds_);
  const double value = sum_ / n;
  const double variance = std::max(0.0, squares_ / n - value * value);
  const double reach = kSpreads * std::sqrt(variance / n) + ValuePad(rewards, n);
  return {value, std::clamp(value - reach, rewards.low, rewards.high),
          std::clamp(value + reach, rewards.low, rewards.high)};
}

}  // namespace bandana
