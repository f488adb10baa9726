#pragma once

#include <cstdint>

namespace bandana::service {

/// Both ends must speak the same one: raised whenever federation.proto changes its meaning.
inline constexpr std::uint32_t kProtocolVersion = 1;

/// Clients of one Delivery, and messages of one batch of shares: large enough to make a message cheap, small
/// enough for both ends to work at the same time.
inline constexpr int kDeliveryClients = 8192;
inline constexpr int kBatchMessages = 512;

/// No message of either end comes near it; a peer that sends more is cut off.
inline constexpr int kMaxMessageBytes = 64 << 20;

}  // namespace bandana::service
