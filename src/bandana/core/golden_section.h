#pragma once

#include <numbers>

namespace bandana {

/// Returns where a quasi-convex function is smallest on [low, high]: the middle of a bracket that is no wider
/// than `tolerance`.
template <class Function>
double GoldenSection(Function function, double low, double high, double tolerance) {
  constexpr double kGolden = std::numbers::phi - 1;
  double left = high - kGolden * (high - low);
  double right = low + kGolden * (high - low);
  double at_left = function(left);
  double at_right = function(right);
  while (high - low > tolerance) {
    if (at_left <= at_right) {
      high = right;
      right = left;
      at_right = at_left;
      left = high - kGolden * (high - low);
      at_left = function(left);
    } else {
      low = left;
      left = right;
      at_left = at_right;
      right = low + kGolden * (high - low);
      at_right = function(right);
    }
  }
  return (low + high) / 2;
}

}  // namespace bandana
