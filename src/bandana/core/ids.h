#pragma once

#include <compare>
#include <cstdint>
#include <utility>

#include "bandana/config.h"

namespace bandana {

/// A participant: server, shuffler, client, agent or peer. Node 0 is the server, if there is a server.
struct NodeId {
  std::uint32_t value = 0;
  auto operator<=>(const NodeId&) const = default;
  template <class Archive>
  void State(Archive& a) {
    a(value);
  }

  template <class Hash>
  friend Hash AbslHashValue(Hash hash, NodeId id) {
    return Hash::combine(std::move(hash), id.value);
  }
};

inline constexpr NodeId kServerNode{0};
inline constexpr NodeId kShufflerNode{0xffffffff};

using ArmId = std::int32_t;  ///< index of an action in the decision set
using Count = std::int64_t;  ///< a number of pulls, clients or rounds
using Epoch = std::int32_t;  ///< the number of a phase or of a sync, from 1
using Slot = std::int64_t;   ///< a time of the simulated network, in message delays
using Seq = std::uint64_t;   ///< a sender's own message counter

}  // namespace bandana
