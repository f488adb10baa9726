#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "bandana/core/generators.h"
#include "bandana/privacy/guarantee.h"
#include "bandana/privacy/noise_law.h"
#include "bandana/privacy/noise_options.h"
#include "bandana/privacy/report.h"

namespace bandana {

/// The parameters of the Gaussian mechanisms. There are no defaults, so that a forgotten budget does not
/// compile.
struct GaussianParams {
  DpGuarantee nominal;
  Calibration calibration;
  Sampler sampler;
};

/// Normal noise, rounded down to the grid of GridMean, with a standard deviation proportional to the query's
/// l2 sensitivity.
class GaussianNoise {
 public:
  using Params = GaussianParams;
  static constexpr double kMean = -0.5;  ///< the mean of a draw, in grid units: a draw is rounded down
  static constexpr char kCentralProof[] = "docs/proofs/central-gaussian.md";
  static constexpr char kLocalProof[] = "docs/proofs/local-gaussian.md";

  static absl::StatusOr<GaussianNoise> Create(const GaussianParams& params);

  /// Returns the guarantee that the noise delivers. Under Calibration::kPaper it is the exact epsilon of the
  /// classic formula's noise.
  DpGuarantee delivered() const { return delivered_; }

  /// Returns the standard deviation, in whole grid units, that hides the replacement of one client. With a
  /// part, the client has one reward, in that part.
  absl::StatusOr<std::uint64_t> Scale(const MeanQuery& query, int part = Report::kWhole) const;
  std::int64_t Draw(std::uint64_t scale, NoiseGen& noise) const;

  /// Draws the sum of `draws` draws. The fast sampler draws one normal that has the sum's mean and variance,
  /// the rounding of each draw included. Fails with kOutOfRange if the sum might not fit 64 bits; this does
  /// not depend on the values drawn.
  absl::StatusOr<std::int64_t> DrawSum(std::uint64_t scale, Count draws, NoiseGen& noise) const;

  /// Returns the law of the sum of `draws` draws, in grid units.
  NoiseLaw Law(std::uint64_t scale, Count draws) const;

 private:
  GaussianNoise(double multiplier, DpGuarantee delivered, Sampler sampler)
      : multiplier_(multiplier), delivered_(delivered), sampler_(sampler) {}
  double multiplier_;  // standard deviation / l2 sensitivity
  DpGuarantee delivered_;
  Sampler sampler_;
};

}  // namespace bandana
