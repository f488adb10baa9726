#pragma once

#include <compare>
#include <string>

#include "absl/status/statusor.h"
#include "bandana/core/ids.h"

namespace bandana {

/// Something that goes wrong in a simulated network.
struct Failure {
  enum class Kind {
    kAgent,  ///< agent a is gone after a round: it falls silent with its first message of the next one
    kLink,   ///< nothing gets through between a and b after a round; one of them may be the server, 0
    kMiss,   ///< nothing that agent a sends in a round gets through
  };
  Kind kind = Kind::kAgent;
  NodeId a;
  NodeId b;
  Epoch round = 0;
  auto operator<=>(const Failure&) const = default;
};

/// From "agent 3 @ 2", "link 4-5 @ 1" or "miss 7 @ 3". The error says what is accepted.
absl::StatusOr<Failure> ParseFailure(const std::string& text);

}  // namespace bandana
