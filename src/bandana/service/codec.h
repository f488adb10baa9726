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

/// Returns the message. Fails with kInvalidArgument, and says what is wrong, if there is
///   - no body; an epoch, count or number of clients below 1; an arm that is not an index;
///   - an invalid interval, or not one interval per pull; an empty report;
///   - a mix request that names a client twice, names a node that is not a client, or names a wrong number of
///     clients;
///   - sums that are not finite or have no dimension; fewer than 0 hops; sealed bits;
///   - sums by arm that do not ascend or are not one per arm;
///   - a set of nodes whose size differs from the network's; a node outside of the network.
///
/// Decode(Encode(m)) is m bit for bit. The wire is not trusted: the caller must check who may send what.
/// `nodes` is the number of nodes in the network. If it is 0, there is no network, and a message that names
/// its nodes is refused.
absl::StatusOr<Message> Decode(const v1::Message& in, Count nodes = 0);

/// A share under transport = bits, as the shuffler holds it. The shuffler cannot read it.
struct SealedReport {
  std::vector<std::string> coordinates;  ///< each a whole number of sealed bits, at least one
  Count among = 0;
  std::string asked;            ///< a digest of the query
  std::string key_fingerprint;  ///< identifies the key to which they are sealed

  Count quorum() const { return among; }
  const std::string& question() const { return asked; }

  template <class Archive>
  void State(Archive& a) {
    a(coordinates, among, asked, key_fingerprint);
  }
};

/// Checks a sealed share as Decode does, as far as it is visible.
absl::Status CheckSealed(const v1::SealedShare& in);

/// Moves the bits out of a share that was checked.
SealedReport TakeSealed(v1::SealedShare& in);

}  // namespace bandana::service
