#include "bandana/privacy/laplace_noise.h"

#include <cmath>

#include "bandana/core/distributions.h"
#include "bandana/core/status.h"
#include "bandana/privacy/calibration/rounding.h"
#include "bandana/privacy/grid_mean.h"
#include "bandana/privacy/samplers/discrete_laplace.h"
#include "bandana/privacy/samplers/fast_noise.h"

namespace bandana {

absl::StatusOr<LaplaceNoise> LaplaceNoise::Create(const LaplaceParams& params) {
  BANDANA_RETURN_IF_ERROR(calibration::CheckPositive("epsilon", params.epsilon));
  if (params.calibration == Calibration::kTight) {
    return LaplaceNoise(1 / params.epsilon, {params.epsilon, 0}, params.sampler);
  }
  return LaplaceNoise(0.5 / params.epsilon, {2 * params.epsilon, 0}, params.sampler);
}

absl::StatusOr<std::uint64_t> LaplaceNoise::Scale(const MeanQuery& query, int part) const {
  return GridMean::NoiseUnits(multiplier_, GridMean::SensitivityL1(query, part));
}

std::int64_t LaplaceNoise::Draw(std::uint64_t scale, NoiseGen& noise) const {
  if (sampler_ == Sampler::kExact) return DiscreteLaplace({.num = scale, .den = 1}, noise);
  // A draw is the difference of two geometric variables, each an exponential variable rounded down.
  const auto geometric = [&] {
    return std::floor(-std::log(internal::UniformPositive(noise)) * static_cast<double>(scale));
  };
  const double up = geometric();
  return static_cast<std::int64_t>(up - geometric());
}

absl::StatusOr<std::int64_t> LaplaceNoise::DrawSum(std::uint64_t scale, Count draws, NoiseGen& noise) const {
  BANDANA_RETURN_IF_ERROR(
      GridMean::CheckNoiseSum(static_cast<double>(scale) * std::sqrt(2 * static_cast<double>(draws))));
  if (sampler_ == Sampler::kExact || draws == 1) {
    std::int64_t sum = 0;
    for (Count i = 0; i < draws; ++i) sum += Draw(scale, noise);
    return sum;
  }
  const double sum = static_cast<double>(scale) * SumOfLaplace(static_cast<std::uint64_t>(draws), noise);
  return static_cast<std::int64_t>(std::nearbyint(sum));
}

NoiseLaw LaplaceNoise::Law(std::uint64_t scale, Count draws) const {
  return {.laplace_scale = static_cast<double>(scale), .laplace_terms = draws};
}

}  // namespace bandana
