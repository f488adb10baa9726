#pragma once

#include "bandana/federation/messages.h"

/// The sizes of messages in a network with arms, for drivers that send no bytes.
namespace bandana {

/// Returns the bytes of an Advert, Request, Tallies, Collected or ArmPlan in the encoding of
/// proto/federation.proto, without the sender, the number and gRPC's framing. The time to compute it does not
/// depend on the number of nodes in a set, and grows with the logarithm of the number of arms of a sum.
Count WireBytes(const Payload& payload);

/// Returns the number of released sums in such a message: one per arm and tally; none in an Advert, a Request
/// or an ArmPlan.
Count RealsIn(const Payload& payload);

}  // namespace bandana
