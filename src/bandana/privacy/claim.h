#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bandana/core/ids.h"
#include "bandana/privacy/guarantee.h"

namespace bandana {

/// One promise: what one adversary can learn about one unit. A mechanism's claims are a list, one an
/// adversary.
struct Claim {
  std::string adversary;   ///< who, and what it sees
  DpGuarantee guarantee;   ///< what really holds, never the nominal figure
  std::string unit;        ///< what is protected
  std::string neighbours;  ///< "replace-one" or "add-remove"
  std::string proof;       ///< the note in docs/proofs/
};

/// What one release costs those whose data are in it, each of them named once.
struct Charge {
  DpGuarantee guarantee;
  std::vector<NodeId> units;
};

/// Names a release. Drawing the same one twice would give an adversary two noises for one value, so a context
/// hands out the first draw again.
struct ReleaseKey {
  NodeId node;
  Epoch epoch;
  auto operator<=>(const ReleaseKey&) const = default;
};

}  // namespace bandana

template <>
struct std::hash<bandana::ReleaseKey> {
  std::size_t operator()(const bandana::ReleaseKey& key) const noexcept {
    return std::hash<std::uint64_t>{}(std::uint64_t{key.node.value} << 32 |
                                      static_cast<std::uint32_t>(key.epoch));
  }
};
