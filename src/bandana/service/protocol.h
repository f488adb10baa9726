#pragma once

#include <cstddef>
#include <cstdint>

namespace bandana::service {

/// Both ends must speak the same one: raised whenever federation.proto changes its meaning.
inline constexpr std::uint32_t kProtocolVersion = 4;

/// Clients of one Delivery, and messages of one batch of shares: large enough to make a message cheap, small
/// enough for both ends to work at the same time.
inline constexpr int kDeliveryClients = 8192;
inline constexpr int kBatchMessages = 512;

/// Of sealed bits in one message of a shuffler, and of sealed shares in a batch before it goes out.
inline constexpr std::size_t kSealedBytes = 1 << 20;

/// No message of either end comes near it; a peer that sends more is cut off.
inline constexpr int kMaxMessageBytes = 64 << 20;

}  // namespace bandana::service
