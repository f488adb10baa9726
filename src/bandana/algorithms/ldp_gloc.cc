#include "bandana/algorithms/ldp_gloc.h"

#include <cmath>

#include "bandana/algorithms/projection.h"
#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {

absl::StatusOr<LdpGloc> LdpGloc::Create(const LdpGlocParams& params, LocalRegression regression) {
  BANDANA_RETURN_IF_ERROR(UserRegression::Check(params.regression));
  BANDANA_CHECK(!params.regression.crowds);
  if (!(params.step > 0 && std::isfinite(params.step))) {
    return InvalidOption("algorithm.step", fmt::format("{}", params.step), "a finite number > 0");
  }
  if (!(params.least_slope > kLeastSlope)) {
    return InvalidOption("environment.theta_bound", fmt::format("{}", params.theta_norm),
                         "a smaller one: over so large a ball the link is flat");
  }
  if (!(params.bonus >= 0 && std::isfinite(params.bonus))) {
    return InvalidOption("algorithm.bonus", fmt::format("{}", params.bonus), "a finite number >= 0");
  }
  return LdpGloc(params, std::move(regression));
}

LdpGloc::LdpGloc(const LdpGlocParams& params, LocalRegression regression)
    : params_(params),
      regression_(std::move(regression)),
      model_(params.regression, 2, regression_.gram_noise()),
      optimism_(params.regression.frame),
      online_(model_.policy().thetas().size(), 0.0),
      bonuses_(static_cast<std::size_t>(params.regression.frame.slots()), 0.0) {}

void LdpGloc::Step(Count slot, std::span<const double> gradient) {
  const auto theta =
      std::span(online_).subspan(static_cast<std::size_t>(slot) * gradient.size(), gradient.size());
  const double step = params_.step / std::sqrt(static_cast<double>(frame().horizon));
  for (std::size_t i = 0; i < gradient.size(); ++i) theta[i] -= step * gradient[i];
  ProjectOntoBall(theta, params_.theta_norm);
}

void LdpGloc::Learn(const LocalMessage& message, Count users) {
  const auto d = static_cast<std::size_t>(frame().dimension);
  const std::size_t slot_entries = d * (d + 1) / 2 + 2 * d;
  const bool warm = model_.policy().warming_up();
  for (Count part = 0; part < (warm ? 1 : frame().slots()); ++part) {
    const std::size_t end = (static_cast<std::size_t>(part) + 1) * slot_entries;
    Step(warm ? model_.policy().warm_up_arm() : part, message.entries().subspan(end - d, d));
  }
  if (!model_.Add(message.entries(), users)) return;
  optimism_.Solved(model_);
  const double noise = regression_.gram_noise();
  for (std::size_t slot = 0; slot < bonuses_.size(); ++slot) {
    const double n = model_.messages(static_cast<Count>(slot));
    bonuses_[slot] =
        params_.bonus * std::sqrt(noise * std::sqrt(static_cast<double>(d) * n) / params_.least_slope);
  }
}

}  // namespace bandana
