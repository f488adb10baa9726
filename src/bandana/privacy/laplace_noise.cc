#include "bandana/privacy/laplace_noise.h"

#include <cmath>

#include "bandana/core/distributions.h"
#include "bandana/core/status.h"
#include "bandana/privacy/calibration/rounding.h"
#include "bandana/privacy/grid_mean.h"
#include "bandana/privacy/samplers/discrete_laplace.h"

namespace bandana {

absl::StatusOr<LaplaceNoise> LaplaceNoise::Create(const LaplaceParams& params) {
  BANDANA_RETURN_IF_ERROR(calibration::CheckPositive("privacy.epsilon", params.epsilon));
  if (params.calibration == Calibration::kTight) {
    return LaplaceNoise(1 / params.epsilon, {params.epsilon, 0}, params.sampler);
  }
  return LaplaceNoise(0.5 / params.epsilon, {2 * params.epsilon, 0}, params.sampler);
}

absl::StatusOr<std::uint64_t> LaplaceNoise::Scale(const MeanQuery& query) const {
  return GridMean::NoiseUnits(multiplier_, GridMean::SensitivityL1(query));
}

std::int64_t LaplaceNoise::Draw(std::uint64_t scale, NoiseGen& noise) const {
  if (sampler_ == Sampler::kExact) return DiscreteLaplace({.num = scale, .den = 1}, noise);
  // The difference of two geometric variables, each an exponential one rounded down.
  const auto geometric = [&] {
    return std::floor(-std::log(internal::UniformPositive(noise)) * static_cast<double>(scale));
  };
  const double up = geometric();
  return static_cast<std::int64_t>(up - geometric());
}

NoiseLaw LaplaceNoise::Law(std::uint64_t scale, Count draws) const {
  return {.laplace_scale = static_cast<double>(scale), .laplace_terms = draws};
}

}  // namespace bandana
