#pragma once

#include <cstddef>
#include <cstdint>

namespace bandana::service {

/// The version of the protocol, which must be the same at both ends. It increases whenever a .proto file
/// changes its meaning.
inline constexpr std::uint32_t kProtocolVersion = 6;

/// The number of clients in one Delivery, and of messages in one batch of shares. They are large enough to
/// make the cost of a message small, and small enough for both ends to work at the same time.
inline constexpr int kDeliveryClients = 8192;
inline constexpr int kBatchMessages = 512;

/// The bytes of sealed bits in one message of a shuffler, and of sealed shares in a batch before it is sent.
inline constexpr std::size_t kSealedBytes = 1 << 20;

}  // namespace bandana::service
