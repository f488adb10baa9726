#include "bandana/algorithms/users/ldp_ucb.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {

absl::StatusOr<LdpUcb> LdpUcb::Create(const LdpUcbRules& rules, RegressionReporter reporter) {
  BANDANA_RETURN_IF_ERROR(UserRegression::Check(rules.regression));
  if (!(rules.bonus >= 0 && std::isfinite(rules.bonus))) {
    return InvalidField(Part::kParams, "bonus", fmt::format("{}", rules.bonus), "a finite number >= 0");
  }
  return LdpUcb(rules, std::move(reporter));
}

LdpUcb::LdpUcb(const LdpUcbRules& rules, RegressionReporter reporter)
    : RegressionLearner(rules.regression, std::move(reporter)),
      rules_(rules),
      optimism_(rules.regression.shape),
      bonuses_(static_cast<std::size_t>(rules.regression.shape.slots()), BonusAt(0)) {}

double LdpUcb::BonusAt(double messages) const {
  const UserModelShape& shape = rules_.regression.shape;
  const auto d = static_cast<double>(shape.dimension);
  const double log_horizon = std::log(static_cast<double>(shape.horizon));
  const double noise = reporter().mechanism().gram_noise();
  if (noise == 0) {
    const double length = rules_.context_norm;
    const double volume = d * std::log1p(messages * length * length / d);
    return rules_.bonus * (rules_.reward_proxy * std::sqrt(volume + 2 * log_horizon) + rules_.theta_norm);
  }
  const double n = std::max(1.0, messages);
  const double k0 = 4 * std::sqrt(d) + 2 * std::log(2 * static_cast<double>(shape.horizon) / 0.1);
  const double u = noise * std::sqrt(n) * k0;
  return rules_.bonus * (2 * noise * std::sqrt(d * log_horizon) +
                         (std::sqrt(3 * u) + noise * std::sqrt(d * n / u)) * d * log_horizon);
}

void LdpUcb::Learn(const LocalMessage& message, Count users) {
  if (!model().Add(message.entries(), users)) return;
  optimism_.Solved(model());
  for (std::size_t slot = 0; slot < bonuses_.size(); ++slot) {
    bonuses_[slot] = BonusAt(model().messages(static_cast<Count>(slot)));
  }
}

}  // namespace bandana
