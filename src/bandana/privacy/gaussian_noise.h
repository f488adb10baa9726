#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "bandana/core/generators.h"
#include "bandana/privacy/guarantee.h"
#include "bandana/privacy/noise_law.h"
#include "bandana/privacy/noise_options.h"
#include "bandana/privacy/report.h"

namespace bandana {

/// What the Gaussian mechanisms are asked for. No defaults: a forgotten budget must not compile into one.
struct GaussianParams {
  DpGuarantee nominal;
  Calibration calibration;
  Sampler sampler;
};

/// Rounded normals on the grid of GridMean, scaled by the query's l2 sensitivity.
class GaussianNoise {
 public:
  using Params = GaussianParams;
  static constexpr double kMean = -0.5;  ///< of a draw, in units: it is rounded down
  static constexpr char kCentralProof[] = "docs/proofs/central-gaussian.md";
  static constexpr char kLocalProof[] = "docs/proofs/local-gaussian.md";

  static absl::StatusOr<GaussianNoise> Create(const GaussianParams& params);

  /// What the multiplier delivers: under `paper` the classic formula's real epsilon.
  DpGuarantee delivered() const { return delivered_; }

  /// The standard deviation, in whole units, that replacing one client's averages needs, or its one
  /// reward in one part.
  absl::StatusOr<std::uint64_t> Scale(const MeanQuery& query, int part = Report::kWhole) const;
  std::int64_t Draw(std::uint64_t scale, NoiseGen& noise) const;

  /// The sum of so many draws. Fast: one normal of the sum's mean and variance, the draws' own rounding
  /// included.
  /// kOutOfRange, whatever is drawn, if it might not fit.
  absl::StatusOr<std::int64_t> DrawSum(std::uint64_t scale, Count draws, NoiseGen& noise) const;

  /// Of a sum of so many draws, in units.
  NoiseLaw Law(std::uint64_t scale, Count draws) const;

 private:
  GaussianNoise(double multiplier, DpGuarantee delivered, Sampler sampler)
      : multiplier_(multiplier), delivered_(delivered), sampler_(sampler) {}
  double multiplier_;  // standard deviation / l2 sensitivity
  DpGuarantee delivered_;
  Sampler sampler_;
};

}  // namespace bandana
