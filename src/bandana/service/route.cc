#include "bandana/service/route.h"

#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana::service {

absl::StatusOr<Count> CheckSealable(const MeanQuery& query, Count bits_per_coordinate) {
  const auto coordinates = static_cast<Count>(query.size());
  if (bits_per_coordinate <= kMostBitsPerCoordinate &&
      bits_per_coordinate * coordinates <= kMostBitsPerReport) {
    return bits_per_coordinate;
  }
  return InvalidField(
      Part::kPrivacy,
      {.message = fmt::format("each of {} clients would have to seal {} bits for each of {} coordinates, but "
                              "at most {} bits per coordinate and {} bits per report are accepted",
                              query.clients, bits_per_coordinate, coordinates, kMostBitsPerCoordinate,
                              kMostBitsPerReport),
       .key = "transport",
       .value = "bits",
       .accepted = "counts, or with bits: calibration = tight, more clients per phase or a larger epsilon"});
}

Route RouteOf(const SlotRoles& roles) {
  Route route{.shuffled = roles.shuffler != nullptr};
  if (roles.sealed_bits != nullptr) {
    route.bits_per_coordinate = [bits = roles.sealed_bits](const MeanQuery& query) -> absl::StatusOr<Count> {
      BANDANA_ASSIGN_OR_RETURN(const Count wanted, bits(query));
      return CheckSealable(query, wanted);
    };
  }
  return route;
}

}  // namespace bandana::service
