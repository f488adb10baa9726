#pragma once

#include <concepts>
#include <functional>

#include "absl/status/statusor.h"
#include "bandana/federation/topology.h"
#include "bandana/privacy/shuffle_means.h"

namespace bandana::service {

/// A coordinate's bits in one client's report, and a whole report's, if they are sealed one by one: what a
/// message holds and what a person waits for. Calibrations that ask for more are refused.
inline constexpr Count kMostBitsACoordinate = 65'536;
inline constexpr Count kMostBitsAReport = 524'288;

/// How reports get from the clients to the server. Public, and the same at every role.
struct Route {
  using BitsPerCoordinate = std::function<absl::StatusOr<Count>(const MeanQuery&)>;

  bool shuffled = false;
  BitsPerCoordinate
      bits_per_coordinate;  ///< of a client's report, if bits are sealed; empty: numbers are sent

  bool sealed() const { return bits_per_coordinate != nullptr; }
  Topology TopologyOf(Count clients) const {
    return shuffled ? Topology::ShuffledStar(clients) : Topology::Star(clients);
  }
};

/// The bits a coordinate, or an error that names privacy.transport if so many cannot be sealed one by one.
absl::StatusOr<Count> CheckSealable(const MeanQuery& query, Count bits_per_coordinate);

template <Privatizer P>
Route RouteOf(const P& privatizer) {
  Route route{.shuffled = ShufflePrivatizer<P>};
  if constexpr (std::same_as<P, ShuffleSumMean>) {
    if (privatizer.transport() == Transport::kBits) {
      route.bits_per_coordinate = [privatizer](const MeanQuery& query) -> absl::StatusOr<Count> {
        BANDANA_ASSIGN_OR_RETURN(const ShuffleSumSetting setting, privatizer.SettingFor(query));
        return CheckSealable(query, setting.bits_per_coordinate);
      };
    }
  }
  return route;
}

}  // namespace bandana::service
