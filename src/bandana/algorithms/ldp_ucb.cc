#include "bandana/algorithms/ldp_ucb.h"

#include <cmath>

#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {

absl::StatusOr<LdpUcb> LdpUcb::Create(const LdpUcbParams& params, RegressionReporter reporter) {
  BANDANA_RETURN_IF_ERROR(UserRegression::Check(params.regression));
  if (!(params.bonus >= 0 && std::isfinite(params.bonus))) {
    return InvalidOption("algorithm.bonus", fmt::format("{}", params.bonus), "a finite number >= 0");
  }
  return LdpUcb(params, std::move(reporter));
}

LdpUcb::LdpUcb(const LdpUcbParams& params, RegressionReporter reporter)
    : RegressionLearner(params.regression, std::move(reporter)),
      params_(params),
      optimism_(params.regression.frame),
      bonuses_(static_cast<std::size_t>(params.regression.frame.slots()), BonusAt(0)) {}

double LdpUcb::BonusAt(double messages) const {
  const UserFrame& frame = params_.regression.frame;
  const auto d = static_cast<double>(frame.dimension);
  const double log_horizon = std::log(static_cast<double>(frame.horizon));
  const double noise = reporter().mechanism().gram_noise();
  if (noise == 0) {
    const double length = params_.context_norm;
    const double volume = d * std::log1p(messages * length * length / d);
    return params_.bonus * (params_.reward_proxy * std::sqrt(volume + 2 * log_horizon) + params_.theta_norm);
  }
  const double n = std::max(1.0, messages);
  const double k0 = 4 * std::sqrt(d) + 2 * std::log(2 * static_cast<double>(frame.horizon) / 0.1);
  const double u = noise * std::sqrt(n) * k0;
  return params_.bonus * (2 * noise * std::sqrt(d * log_horizon) +
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
