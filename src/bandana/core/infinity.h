#pragma once

#include <limits>

namespace bandana {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace bandana
