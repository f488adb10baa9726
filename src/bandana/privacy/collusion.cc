#include "bandana/privacy/collusion.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {

absl::Status Collusion::Check() const {
  if (colluding < 0) {
    return InvalidField(Part::kPrivacy, "colluding", static_cast<double>(colluding), "a whole number >= 0");
  }
  if (!(honest_fraction >= std::numeric_limits<double>::min() && honest_fraction <= 1)) {
    return InvalidField(Part::kPrivacy, "honest_fraction", honest_fraction, "a number in (0, 1]");
  }
  return absl::OkStatus();
}

Count Collusion::Hiding(Count participants) const {
  // A fraction that was written as a decimal number may be below it by half a unit in the last place.
  constexpr double kDecimal = 1 + 4 * std::numeric_limits<double>::epsilon();
  const double product = honest_fraction * static_cast<double>(participants) * kDecimal;
  const auto honest = std::min(participants, static_cast<Count>(std::floor(product)));
  return std::max<Count>(1, std::min(honest, participants - colluding));
}

std::string Collusion::Describe(const std::string& participants) const {
  if (!covers_participants()) {
    return fmt::format("The adversary is none of the {} and works with none of them", participants);
  }
  std::string text = colluding == 1 ? fmt::format("At most 1 of the {} works", participants)
                                    : fmt::format("At most {} of the {} work", colluding, participants);
  if (honest_fraction < 1 && colluding == 0) {
    text = fmt::format("At most {:.4g} % of the {} work", 100 * (1 - honest_fraction), participants);
  } else if (honest_fraction < 1) {
    text = fmt::format("At most {} of the {}, or {:.4g} % of them if that is more, work", colluding,
                       participants, 100 * (1 - honest_fraction));
  }
  return text +
         fmt::format(" with the adversary (a process that holds several {} counts as several)", participants);
}

}  // namespace bandana
