#pragma once

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "bandana/federation/federation.h"
#include "bandana/federation/star.h"
#include "bandana/federation/topology.h"

namespace bandana::service {

/// The most bits of a coordinate in one client's report, and of a whole report, if they are sealed one by
/// one. The limits keep messages and waiting times small. Calibrations that need more are refused.
inline constexpr Count kMostBitsPerCoordinate = 65'536;
inline constexpr Count kMostBitsPerReport = 524'288;

/// How reports travel from the clients to the server. The route is public, and the same at every role.
struct Route {
  using BitsPerCoordinate = std::function<absl::StatusOr<Count>(const MeanQuery&)>;

  bool shuffled = false;
  /// Returns the bits per coordinate of a client's report, if bits are sealed. Empty: numbers are sent.
  BitsPerCoordinate bits_per_coordinate;

  bool sealed() const { return bits_per_coordinate != nullptr; }
  Topology TopologyOf(Count clients) const {
    return shuffled ? Topology::ShuffledStar(clients) : Topology::Star(clients);
  }
};

/// Returns the bits per coordinate. Fails, naming `transport`, if these are too many to be sealed one
/// by one.
absl::StatusOr<Count> CheckSealable(const MeanQuery& query, Count bits_per_coordinate);

/// Returns how reports travel between roles that were assembled. Bits per coordinate are checked as above.
Route RouteOf(const SlotRoles& roles);

template <Privatizer P>
Route RouteOf(const P& privatizer) {
  SlotRoles roles{.sealed_bits = SealedBitsOf(std::make_shared<const P>(privatizer))};
  Route route = RouteOf(roles);
  route.shuffled = ShufflePrivatizer<P>;
  return route;
}

}  // namespace bandana::service
