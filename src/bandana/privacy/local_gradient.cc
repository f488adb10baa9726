#include "bandana/privacy/local_gradient.h"

#include <limits>

#include "bandana/core/status.h"
#include "bandana/privacy/calibration/rounding.h"
#include "bandana/privacy/l2_ball_exact.h"
#include "bandana/privacy/samplers/sphere.h"

namespace bandana {
namespace {

absl::Status CheckSpace(const LocalGradientSpace& space) {
  BANDANA_RETURN_IF_ERROR(RecordBounds::Check(space.dimension, space.context_norm, space.rewards));
  if (!(space.slots >= 1 && space.slots <= 1'000'000)) {
    return InvalidOption("slots", static_cast<double>(space.slots), "a whole number from 1 to 1000000");
  }
  const auto fits = [](double x) { return std::abs(x) <= calibration::kMost; };
  if (!(fits(space.means.low) && fits(space.means.high) && space.means.low <= space.means.high)) {
    return InvalidOption("means", fits(space.means.low) ? space.means.high : space.means.low,
                         "an interval with finite ends (within 1e60)");
  }
  return absl::OkStatus();
}

// Of the longest gradient, from above.
double TightRadius(const LocalGradientSpace& space) {
  const double slope = std::max(space.means.high - space.rewards.low, space.rewards.high - space.means.low);
  return space.context_norm * slope * (1 + 1e-12);
}

double PaperRadius(const LocalGradientSpace& space) {
  return 2 * std::max(std::abs(space.rewards.low), std::abs(space.rewards.high)) * space.context_norm;
}

}  // namespace

LocalGradient::LocalGradient(const LocalGradientSpace& space, double radius, Sampler sampler, const Law& law,
                             bool bare)
    : space_(space),
      bounds_(space.dimension, space.context_norm, space.rewards, space.out_of_range),
      radius_(radius),
      over_radius_(1 / radius),
      setting_(law.setting),
      epsilon_(law.epsilon),
      length_(bare ? 0 : law.setting.scale * radius),
      bare_(bare),
      fast_(!bare && sampler == Sampler::kFast),
      cap_(space.dimension, law.setting.p, law.setting.gamma) {}

absl::StatusOr<LocalGradient> LocalGradient::Create(const LocalGradientParams& params) {
  const LocalGradientSpace space = params.space();
  BANDANA_RETURN_IF_ERROR(CheckSpace(space));
  const bool paper = params.calibration == Calibration::kPaper;
  const double radius = paper ? PaperRadius(space) : TightRadius(space);
  BANDANA_RETURN_IF_ERROR(calibration::CheckPositive("radius", radius));
  const bool half = paper && params.slot_budget == SlotBudget::kFull;
  const double epsilon = params.epsilon * ShareOf(half ? SlotBudget::kHalf : params.slot_budget, space.slots);
  if (params.sampler == Sampler::kExact) {
    BANDANA_ASSIGN_OR_RETURN(const ExactL2Ball exact,
                             SetUpExactL2Ball(params.randomizer, space.dimension, epsilon, radius));
    return LocalGradient(space, radius, params.sampler, {exact.setting, exact.epsilon}, false);
  }
  BANDANA_ASSIGN_OR_RETURN(const L2BallSetting setting,
                           SetUpL2Ball(params.randomizer, space.dimension, epsilon, radius));
  return LocalGradient(space, radius, params.sampler, {setting, setting.delivered_epsilon}, false);
}

absl::StatusOr<LocalGradient> LocalGradient::CreateBare(const LocalGradientSpace& space, const Declassify&) {
  BANDANA_RETURN_IF_ERROR(CheckSpace(space));
  const double radius = TightRadius(space);
  BANDANA_RETURN_IF_ERROR(calibration::CheckPositive("radius", radius));
  L2BallSetting none{};
  none.p = 0.5;
  return LocalGradient(space, radius, Sampler::kFast, {none, std::numeric_limits<double>::infinity()}, true);
}

std::vector<Claim> LocalGradient::claims() const {
  if (bare_) return {};
  return {{.adversary = "everyone but the user, who see its message",
           .guarantee = guarantee(),
           .unit = "one user's context, arm and reward",
           .neighbours = "replace-one",
           .proof = space_.slots > 1 ? "docs/proofs/synthetic-slots.md" : "docs/proofs/local-gradient.md"}};
}

void LocalGradient::DrawOtherwise(const Gradient& gradient, NoiseGen& noise, std::span<double> out) const {
  std::fill(out.begin(), out.end(), 0);
  if (gradient.slope != 0) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = gradient.slope * gradient.context[i];
  }
  if (bare_) return;
  L2BallAxis axis(out, radius_);
  if (axis.zero()) {
    std::vector<std::int64_t> direction(out.size());
    UniformDirection(direction, noise);
    ToUnitVector(direction, out);
  } else {
    if (!ExactCoin((1 + axis.length) / 2, noise)) axis.Turn();
    const bool inside = ExactCoin(setting_.p, noise);
    ExactCapDirection(axis.units, setting_.gamma, inside, out, noise);
  }
  for (double& x : out) x *= length_;
}

}  // namespace bandana
