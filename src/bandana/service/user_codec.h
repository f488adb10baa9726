#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "bandana/core/ids.h"
#include "bandana/privacy/local_message.h"

/// Turns the message of a user whom nobody is trusted with into bytes and back. It contains its noise
/// already, so that the bytes may go to anybody.
namespace bandana::service {

/// Returns the number of entries, then every entry as a binary double: 8 bytes each, little-endian.
std::string EncodeUserMessage(const LocalMessage& message);

/// Returns the message. Decode(Encode(m)) is m bit for bit. The bytes are not trusted: it fails with
/// kInvalidArgument, and says what is wrong, unless there are exactly `entries` entries and all are finite.
/// UserLearner::RealsSent(n + 1) - RealsSent(n) is how many entries the message of user n + 1 has.
absl::StatusOr<LocalMessage> DecodeUserMessage(std::string_view bytes, Count entries);

}  // namespace bandana::service
