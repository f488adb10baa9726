#include "bandana/algorithms/fed_ucb/probe.h"

#include <cmath>

#include "bandana/algorithms/fed_ucb/setup.h"
#include "bandana/core/status.h"

namespace bandana {

std::optional<Probe> MakeProbe(double threshold, const Regularizer& start, Count dimension, Count horizon) {
  const double base = start.shift + start.rho_max - start.rho_min;
  const double clock = static_cast<double>(dimension) * std::log(base / start.shift);
  for (Count t = 2; t + 1 < horizon; ++t) {  // world b must have its chance after t, too
    const auto rounds = static_cast<double>(t);
    const double squares = base * std::expm1(threshold / rounds - clock) - 0.5;
    if (squares > rounds - 1) continue;
    if (squares < 0) return std::nullopt;
    return Probe{std::sqrt(squares / (rounds - 1)), t};
  }
  return std::nullopt;
}

absl::StatusOr<double> FedUcbProbeLevel(const FedUcbParams& params, const Privacy& privacy,
                                        const Facts& facts) {
  BANDANA_ASSIGN_OR_RETURN(
      const auto setup,
      FedUcbSetup::Create({.form = FedUcbForm::kStar, .params = params, .privacy = privacy, .facts = facts}));
  return setup->ProbeLevel();
}

}  // namespace bandana
