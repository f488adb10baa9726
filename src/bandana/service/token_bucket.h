#pragma once

#include <algorithm>

#include "absl/time/time.h"

namespace bandana::service {

/// Allows `rate` units per second on average, and at most `burst` units at once. The caller says what time it
/// is.
class TokenBucket {
 public:
  TokenBucket(double rate, double burst, absl::Time now)
      : rate_(rate), burst_(burst), there_(burst), at_(now) {}

  /// Takes a unit if there is one, and returns whether there was.
  bool Take(absl::Time now) {
    Refill(now);
    if (there_ < 1) return false;
    --there_;
    return true;
  }

  /// Takes units, also more than there are. Returns when nothing is owed any more; `now` or earlier means
  /// that nothing is owed.
  absl::Time Spend(double units, absl::Time now) {
    Refill(now);
    there_ -= units;
    return there_ >= 0 ? now : now + absl::Seconds(-there_ / rate_);
  }

 private:
  void Refill(absl::Time now) {
    if (now <= at_) return;
    there_ = std::min(burst_, there_ + rate_ * absl::ToDoubleSeconds(now - at_));
    at_ = now;
  }

  double rate_;
  double burst_;
  double there_;
  absl::Time at_;
};

}  // namespace bandana::service
