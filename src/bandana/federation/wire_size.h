#pragma once

#include "bandana/federation/messages.h"

/// What messages of a network with arms cost, for drivers that have no wire to count on.
namespace bandana {

/// The bytes that an Advert, Request, Tallies, Collected or ArmPlan takes in proto/federation.proto's
/// encoding, without what goes around it: sender, number and gRPC's framing. The time that it takes does not
/// depend on how many nodes are in a set, and grows with the logarithm of the number of arms of a sum.
Count WireBytes(const Payload& payload);

/// The released sums in such a message: one an arm and a tally, none in an Advert, a Request or an ArmPlan.
Count RealsIn(const Payload& payload);

}  // namespace bandana
