#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/federation/messages.h"

namespace bandana::v1 {
class Message;
class SealedShare;
}  // namespace bandana::v1

namespace bandana::service {

/// Overwrites `out`.
void Encode(const Message& message, v1::Message& out);

/// The message, or kInvalidArgument with what is wrong: no body, an epoch, count or number of clients below
/// 1, an arm that is no index, an interval that is none, not one interval a pull, a report of
/// nothing, a roll that names a client twice, or not as many as it asks, or somebody who is no client, sums
/// that are not finite or of no dimension, fewer than 0 hops, sealed bits, sums by arm that do not ascend or
/// are not one an arm, a set of nodes of another size than the network's, a node beyond it. Decode(Encode(m))
/// is m bit for bit. The wire is not trusted: whoever may send what is the caller's to check. `nodes`: of
/// the network; 0: there is none, and a message that names its nodes is refused.
absl::StatusOr<Message> Decode(const v1::Message& in, Count nodes = 0);

/// A share under transport = bits, as the shuffler holds it: it cannot be read there.
struct SealedReport {
  std::vector<std::string> coordinates;  ///< each a whole number of sealed bits, at least one
  Count among = 0;
  std::string asked;            ///< a digest of the query
  std::string key_fingerprint;  ///< of whom they are sealed to

  Count quorum() const { return among; }
  const std::string& question() const { return asked; }
};

/// The same checks as far as there is something to see.
absl::Status CheckSealed(const v1::SealedShare& in);

/// Moves the bits out of what was checked.
SealedReport TakeSealed(v1::SealedShare& in);

}  // namespace bandana::service
