#pragma once

#include <algorithm>
#include <chrono>

#include "absl/time/time.h"

namespace bandana::service {

/// Returns the duration, but at most a year, so that a deadline can be computed from it without an overflow.
inline std::chrono::nanoseconds ToChrono(absl::Duration duration) {
  return absl::ToChronoNanoseconds(std::min(duration, absl::Hours(24 * 365)));
}

}  // namespace bandana::service
