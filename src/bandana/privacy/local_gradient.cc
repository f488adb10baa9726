#include "bandana/privacy/local_gradient.h"

#include <boost/math/special_functions/beta.hpp>

#include "bandana/core/infinity.h"
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

// Returns an upper bound on the length of a gradient.
double TightRadius(const LocalGradientSpace& space) {
  const double slope = std::max(space.means.high - space.rewards.low, space.rewards.high - space.means.low);
  return space.context_norm * slope * (1 + 1e-12);
}

double PaperRadius(const LocalGradientSpace& space) {
  return 2 * std::max(std::abs(space.rewards.low), std::abs(space.rewards.high)) * space.context_norm;
}

// Returns the variance of an entry for a gradient of 0, averaged over entries and slots, in units of R^2, R
// the radius. A lifted 0 is the last axis. Its entries are orthogonal to that axis, and have the variance
// that the height h along the axis leaves, 1 - E h^2. The other slots are uniform in d + 1 dimensions.
double Variance(const L2BallSetting& setting, const LocalGradientSpace& space, bool lifted) {
  const auto d = static_cast<double>(space.dimension);
  const double square = setting.scale * setting.scale;
  if (!lifted) return square / d;
  const double n = d + 1;
  // h^2 ~ Beta(1/2, (n - 1)/2) has the mean 1/n. Weighted by itself it has the law Beta(3/2, (n - 1)/2).
  const double in_cap = boost::math::ibetac(1.5, (n - 1) / 2, setting.gamma * setting.gamma) / (2 * n);
  const double mean =
      setting.p * in_cap / setting.cap_mass + (1 - setting.p) * (1 / n - in_cap) / (1 - setting.cap_mass);
  const auto slots = static_cast<double>(space.slots);
  return square * ((1 - mean) / d + (slots - 1) / n) / slots;
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
      lifted_(law.lifted),
      noise_(bare ? 0 : radius * std::sqrt(Variance(law.setting, space, law.lifted))),
      bare_(bare),
      fast_(!bare && sampler == Sampler::kFast),
      cap_(space.dimension + (law.lifted ? 1 : 0), law.setting.p, law.setting.gamma) {}

absl::StatusOr<LocalGradient> LocalGradient::Create(const LocalGradientParams& params) {
  const LocalGradientSpace space = params.space();
  BANDANA_RETURN_IF_ERROR(CheckSpace(space));
  const bool paper = params.calibration == Calibration::kPaper;
  const double radius = paper ? PaperRadius(space) : TightRadius(space);
  BANDANA_RETURN_IF_ERROR(calibration::CheckPositive("radius", radius));
  const bool half = paper && params.slot_budget == SlotBudget::kFull;
  const double epsilon = params.epsilon * ShareOf(half ? SlotBudget::kHalf : params.slot_budget, space.slots);
  BANDANA_ASSIGN_OR_RETURN(Law law, LawFor(params, epsilon, radius, false));
  if (params.lift && !paper && params.randomizer == L2BallRandomizer::kPrivUnit) {
    const absl::StatusOr<Law> lifted =
        LawFor(params, epsilon, radius, true);  // fails if a sampler cannot draw from the cap
    if (lifted.ok() && Variance(lifted->setting, space, true) < Variance(law.setting, space, false))
      law = *lifted;
  }
  return LocalGradient(space, radius, params.sampler, law, false);
}

absl::StatusOr<LocalGradient::Law> LocalGradient::LawFor(const LocalGradientParams& params, double epsilon,
                                                         double radius, bool lifted) {
  const Count dimension = params.dimension + (lifted ? 1 : 0);
  if (params.sampler == Sampler::kExact) {
    BANDANA_ASSIGN_OR_RETURN(const ExactL2Ball exact,
                             SetUpExactL2Ball(params.randomizer, dimension, epsilon, radius));
    return Law{exact.setting, exact.epsilon, lifted};
  }
  BANDANA_ASSIGN_OR_RETURN(const L2BallSetting setting,
                           SetUpL2Ball(params.randomizer, dimension, epsilon, radius));
  return Law{setting, setting.delivered_epsilon, lifted};
}

absl::StatusOr<LocalGradient> LocalGradient::CreateBare(const LocalGradientSpace& space, const Declassify&) {
  BANDANA_RETURN_IF_ERROR(CheckSpace(space));
  const double radius = TightRadius(space);
  BANDANA_RETURN_IF_ERROR(calibration::CheckPositive("radius", radius));
  L2BallSetting none{};
  none.p = 0.5;
  return LocalGradient(space, radius, Sampler::kFast, {none, kInfinity}, true);
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
  if (lifted_) return DrawLifted(gradient, noise, out);
  std::fill(out.begin(), out.end(), 0);
  if (gradient.slope != 0) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = gradient.slope * gradient.context[i];
  }
  if (!bare_) DrawExactly(out, noise);
}

void LocalGradient::DrawZeroOtherwise(NoiseGen& noise, std::span<double> out) const {
  if (!lifted_) return DrawOtherwise({{}, 0, 0}, noise, out);
  RecordBounds::Room room(out.size() + 1, 0.0);
  if (fast_) {
    FastCap::DrawUniform(length_, noise, std::span(room));
  } else {
    DrawExactly(std::span(room), noise);
  }
  std::copy_n(room.begin(), out.size(), out.begin());
}

// A gradient of 0 becomes the last axis.
void LocalGradient::DrawLifted(const Gradient& gradient, NoiseGen& noise, std::span<double> out) const {
  RecordBounds::Room axis(out.size() + 1, 0.0);
  double squares = 0;
  if (gradient.slope != 0) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      axis[i] = gradient.slope * gradient.context[i] * over_radius_;
      squares += axis[i] * axis[i];
    }
  }
  axis[out.size()] = std::sqrt(std::max(0.0, 1 - squares));
  if (fast_) {
    const double norm = std::sqrt(std::max(1.0, squares));  // exceeds 1 only by rounding
    RecordBounds::Room message(axis.size());
    cap_.Draw(axis, 1 / norm, length_, noise, std::span(message));
    std::copy_n(message.begin(), out.size(), out.begin());
    return;
  }
  for (double& x : axis) x *= radius_;
  DrawExactly(std::span(axis), noise);
  std::copy_n(axis.begin(), out.size(), out.begin());
}

void LocalGradient::DrawExactly(std::span<double> vector, NoiseGen& noise) const {
  L2BallAxis axis(vector, radius_);
  if (axis.zero()) {
    std::vector<std::int64_t> direction(vector.size());
    UniformDirection(direction, noise);
    ToUnitVector(direction, vector);
  } else {
    // A lifted vector has the full length, up to rounding. Rounding must not start Duchi's coin.
    if (!lifted_ && !ExactCoin((1 + axis.length) / 2, noise)) axis.Turn();
    const bool inside = ExactCoin(setting_.p, noise);
    ExactCapDirection(axis.units, setting_.gamma, inside, vector, noise);
  }
  for (double& x : vector) x *= length_;
}

}  // namespace bandana
