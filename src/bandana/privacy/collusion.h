#pragma once

#include <string>

#include "absl/status/status.h"
#include "bandana/core/ids.h"

namespace bandana {

/// Who works with the adversary in the shuffle model. Every participant knows its own share of the noise and
/// can subtract it. So a participant that works with the adversary hides nobody.
struct Collusion {
  Count colluding = 1;         ///< at most so many participants work with the adversary
  double honest_fraction = 1;  ///< at least this share of the participants follow the protocol

  /// Fails unless colluding >= 0 and honest_fraction is in (0, 1].
  absl::Status Check() const;

  /// Returns how many of n participants hide a participant that follows the protocol, itself included: n - c,
  /// where c = max(colluding, ceil((1 - honest_fraction) n)), and at least 1. The participant's own noise is
  /// always secret, because at most the n - 1 others work with the adversary.
  Count Hiding(Count participants) const;

  /// Returns the assumption as a sentence for claims. `participants` says who they are: "clients".
  std::string Describe(const std::string& participants) const;
};

}  // namespace bandana
