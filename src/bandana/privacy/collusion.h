#pragma once

#include <string>

#include "absl/status/status.h"
#include "bandana/core/ids.h"

namespace bandana {

/// Who works with the adversary in the shuffle model. Every participant knows its own share of the noise and
/// can subtract it. So a participant that works with the adversary hides nobody. A process that holds several
/// participants, as an agent of the service does, knows the noise of all of them: it counts as several.
struct Collusion {
  /// At most so many participants work with the adversary. 0: the adversary is no participant, as in an audit
  /// of outsiders; `privacy.colluding` cannot be 0.
  Count colluding = 1;
  double honest_fraction = 1;  ///< at least this share of the participants follow the protocol

  /// Fails unless colluding >= 0 and honest_fraction is in (0, 1].
  absl::Status Check() const;

  /// Returns how many of n participants hide a participant that follows the protocol, itself included: n - c,
  /// where c = max(colluding, ceil((1 - honest_fraction) n)), and at least 1. The participant's own noise is
  /// always secret, because at most the n - 1 others work with the adversary.
  Count Hiding(Count participants) const;

  /// Returns whether the claims also hold against one participant that follows the protocol and is curious.
  bool covers_participants() const { return colluding >= 1 || honest_fraction < 1; }

  /// Returns the assumption as a sentence for claims. `participants` says who they are: "clients".
  std::string Describe(const std::string& participants) const;
};

}  // namespace bandana
