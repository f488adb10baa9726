#include "bandana/algorithms/users/user_policy.h"

#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {

absl::Status UserModelShape::Check() const {
  const auto positive = [](const char* field, Count value) {
    if (value >= 1) return absl::OkStatus();
    return InvalidField(Part::kFacts, field, fmt::format("{}", value), "a whole number >= 1");
  };
  BANDANA_RETURN_IF_ERROR(positive("horizon", horizon));
  BANDANA_RETURN_IF_ERROR(positive("dimension", dimension));
  BANDANA_RETURN_IF_ERROR(positive("actions", arms));
  if (!multi) return absl::OkStatus();
  if (horizon < arms) {
    return InvalidField(Part::kFacts, "horizon", fmt::format("{}", horizon),
                        fmt::format("at least {}, so that every arm is pulled in the warm-up", arms));
  }
  if (warm_up < 1 || warm_up > horizon / arms) {
    return InvalidField(
        Part::kParams, "warm_up", fmt::format("{}", warm_up),
        fmt::format("a whole number from 1 to {}, which is the horizon divided by the number of arms",
                    horizon / arms));
  }
  if (!(elimination_gap > 0)) {
    return InvalidField(Part::kParams, "elimination_gap", fmt::format("{}", elimination_gap), "a number > 0");
  }
  return absl::OkStatus();
}

}  // namespace bandana
