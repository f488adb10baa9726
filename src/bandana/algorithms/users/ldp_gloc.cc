#include "bandana/algorithms/users/ldp_gloc.h"

#include <cmath>
#include <utility>

#include "bandana/algorithms/users/projection.h"
#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {

absl::StatusOr<LdpGloc> LdpGloc::Create(const LdpGlocRules& rules, LocalRegression regression) {
  BANDANA_RETURN_IF_ERROR(UserRegression::Check(rules.regression));
  BANDANA_CHECK(!rules.regression.combine_messages);
  if (!(rules.step > 0 && std::isfinite(rules.step))) {
    return InvalidField(Part::kParams, "step", fmt::format("{}", rules.step), "a finite number > 0");
  }
  if (!(rules.least_slope > kLeastSlope)) {
    return InvalidField(Part::kFacts, "theta_norm", fmt::format("{}", rules.theta_norm),
                        "a smaller number: over a ball of this radius the link is almost flat");
  }
  if (!(rules.bonus >= 0 && std::isfinite(rules.bonus))) {
    return InvalidField(Part::kParams, "bonus", fmt::format("{}", rules.bonus), "a finite number >= 0");
  }
  return LdpGloc(rules, std::move(regression));
}

LdpGloc::LdpGloc(const LdpGlocRules& rules, LocalRegression regression)
    : rules_(rules),
      regression_(std::move(regression)),
      model_(rules.regression, 2, regression_.gram_noise()),
      optimism_(rules.regression.shape),
      online_(model_.policy().thetas().size(), 0.0),
      bonuses_(static_cast<std::size_t>(rules.regression.shape.slots()), 0.0) {}

void LdpGloc::Step(Count slot, std::span<const double> gradient) {
  const auto theta =
      std::span(online_).subspan(static_cast<std::size_t>(slot) * gradient.size(), gradient.size());
  const double step = rules_.step / std::sqrt(static_cast<double>(shape().horizon));
  for (std::size_t i = 0; i < gradient.size(); ++i) theta[i] -= step * gradient[i];
  ProjectOntoBall(theta, rules_.theta_norm);
}

void LdpGloc::Learn(const LocalMessage& message, Count users) {
  const auto d = static_cast<std::size_t>(shape().dimension);
  const std::size_t slot_entries = d * (d + 1) / 2 + 2 * d;
  const bool warm = model_.policy().warming_up();
  for (Count part = 0; part < (warm ? 1 : shape().slots()); ++part) {
    const std::size_t end = (static_cast<std::size_t>(part) + 1) * slot_entries;
    Step(warm ? model_.policy().warm_up_arm() : part, message.entries().subspan(end - d, d));
  }
  if (!model_.Add(message.entries(), users)) return;
  optimism_.Solved(model_);
  const double noise = regression_.gram_noise();
  for (std::size_t slot = 0; slot < bonuses_.size(); ++slot) {
    const double n = model_.messages(static_cast<Count>(slot));
    bonuses_[slot] =
        rules_.bonus * std::sqrt(noise * std::sqrt(static_cast<double>(d) * n) / rules_.least_slope);
  }
}

}  // namespace bandana
