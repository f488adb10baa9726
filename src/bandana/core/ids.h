#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace bandana {

/// A participant: server, shuffler, client, agent or peer. Node 0 is the server where there is one.
struct NodeId {
  std::uint32_t value = 0;
  auto operator<=>(const NodeId&) const = default;
};

inline constexpr NodeId kServerNode{0};

using ArmId = std::int32_t;  ///< index of an action in the decision set
using Count = std::int64_t;  ///< pulls, clients, rounds
using Epoch = std::int32_t;  ///< a phase or synchronisation, from 1
using Slot = std::int64_t;   ///< one message delay of the simulated network
using Seq = std::uint64_t;   ///< a sender's own message counter

}  // namespace bandana

template <>
struct std::hash<bandana::NodeId> {
  std::size_t operator()(bandana::NodeId id) const noexcept { return std::hash<std::uint32_t>{}(id.value); }
};
