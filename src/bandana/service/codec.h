#pragma once

#include "absl/status/statusor.h"
#include "bandana/federation/messages.h"

namespace bandana::v1 {
class Message;
}  // namespace bandana::v1

namespace bandana::service {

/// Overwrites `out`.
void Encode(const Message& message, v1::Message& out);

/// The message, or kInvalidArgument with what is wrong: no body, an epoch, count or number of clients below
/// 1, an arm that is no index, an interval that is none, not one interval a pull, a report of
/// nothing. Decode(Encode(m)) is m bit for bit. The wire is not trusted: whoever may send what is the
/// caller's to check.
absl::StatusOr<Message> Decode(const v1::Message& in);

}  // namespace bandana::service
