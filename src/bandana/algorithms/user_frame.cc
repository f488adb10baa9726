#include "bandana/algorithms/user_frame.h"

#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {

absl::Status UserFrame::Check() const {
  if (horizon < 1) return InvalidOption("horizon", fmt::format("{}", horizon), "a whole number >= 1");
  if (dimension < 1) {
    return InvalidOption("environment.dimension", fmt::format("{}", dimension), "a whole number >= 1");
  }
  if (arms < 1) return InvalidOption("environment.actions", fmt::format("{}", arms), "a whole number >= 1");
  if (!multi) return absl::OkStatus();
  if (horizon < arms) {
    return InvalidOption("horizon", fmt::format("{}", horizon),
                         fmt::format("at least {}, so that every arm is pulled in the warm-up", arms));
  }
  if (warm_up < 1 || warm_up > horizon / arms) {
    return InvalidOption(
        "algorithm.warm_up", fmt::format("{}", warm_up),
        fmt::format("a whole number from 1 to {}, which is the horizon for each arm", horizon / arms));
  }
  if (!(elimination_gap > 0)) {
    return InvalidOption("algorithm.elimination_gap", fmt::format("{}", elimination_gap), "a number > 0");
  }
  return absl::OkStatus();
}

}  // namespace bandana
