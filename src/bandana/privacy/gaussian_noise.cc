#include "bandana/privacy/gaussian_noise.h"

#include <cmath>

#include "bandana/core/distributions.h"
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
  // The classic formula is loose for epsilon <= 1 and wrong above it. The claim is what it gives at the
  // nominal delta.
  const DpGuarantee delivered{GaussianEpsilon(params.nominal.delta, multiplier), params.nominal.delta};
  return GaussianNoise(multiplier, delivered, params.sampler);
}

absl::StatusOr<std::uint64_t> GaussianNoise::Scale(const MeanQuery& query, int part) const {
  return GridMean::NoiseUnits(multiplier_, GridMean::Sensitivity(query, part));
}

std::int64_t GaussianNoise::Draw(std::uint64_t scale, NoiseGen& noise) const {
  return sampler_ == Sampler::kExact ? RoundedNormal(scale, noise) : FastRoundedNormal(scale, noise);
}

absl::StatusOr<std::int64_t> GaussianNoise::DrawSum(std::uint64_t scale, Count draws, NoiseGen& noise) const {
  const auto n = static_cast<double>(draws);
  const auto stddev = static_cast<double>(scale);
  BANDANA_RETURN_IF_ERROR(GridMean::CheckNoiseSum(stddev * std::sqrt(n)));
  if (sampler_ == Sampler::kExact || draws == 1) {
    std::int64_t sum = 0;
    for (Count i = 0; i < draws; ++i) sum += Draw(scale, noise);
    return sum;
  }
  // Each rounding adds 1/12 to the variance. The rounding below is the last one, so n - 1 are added here.
  const double spread = std::sqrt(n * stddev * stddev + (n - 1) / 12);
  return static_cast<std::int64_t>(std::nearbyint(spread * StandardNormal(noise) + kMean * n));
}

NoiseLaw GaussianNoise::Law(std::uint64_t scale, Count draws) const {
  return {.proxy = static_cast<double>(scale) * std::sqrt(static_cast<double>(draws)), .normal = true};
}

}  // namespace bandana
