#include "bandana/privacy/gaussian_noise.h"

#include <cmath>

#include "bandana/core/status.h"
#include "bandana/privacy/calibration/gaussian.h"
#include "bandana/privacy/grid_mean.h"
#include "bandana/privacy/samplers/rounded_normal.h"

namespace bandana {

absl::StatusOr<GaussianNoise> GaussianNoise::Create(const GaussianParams& params) {
  if (params.calibration == Calibration::kTight) {
    BANDANA_ASSIGN_OR_RETURN(const double multiplier, TightGaussianMultiplier(params.nominal));
    return GaussianNoise(multiplier, params.nominal, params.sampler);
  }
  BANDANA_ASSIGN_OR_RETURN(const double multiplier, ClassicGaussianMultiplier(params.nominal));
  // The classic formula is loose for epsilon <= 1 and wrong above it: say what it gives at the nominal delta.
  const DpGuarantee delivered{GaussianEpsilon(params.nominal.delta, multiplier), params.nominal.delta};
  return GaussianNoise(multiplier, delivered, params.sampler);
}

absl::StatusOr<std::uint64_t> GaussianNoise::Scale(const MeanQuery& query) const {
  return GridMean::NoiseUnits(multiplier_, GridMean::Sensitivity(query));
}

std::int64_t GaussianNoise::Draw(std::uint64_t scale, NoiseGen& noise) const {
  return sampler_ == Sampler::kExact ? RoundedNormal(scale, noise) : FastRoundedNormal(scale, noise);
}

NoiseLaw GaussianNoise::Law(std::uint64_t scale, Count draws) const {
  return {.proxy = static_cast<double>(scale) * std::sqrt(static_cast<double>(draws)), .normal = true};
}

}  // namespace bandana
