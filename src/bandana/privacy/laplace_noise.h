#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "bandana/core/generators.h"
#include "bandana/privacy/guarantee.h"
#include "bandana/privacy/noise_law.h"
#include "bandana/privacy/noise_options.h"
#include "bandana/privacy/report.h"

namespace bandana {

/// What the Laplace mechanisms are asked for: pure differential privacy.
struct LaplaceParams {
  double epsilon;
  Calibration calibration;
  Sampler sampler;
};

/// Discrete Laplace noise on the grid of GridMean, scaled by the query's l1 sensitivity.
class LaplaceNoise {
 public:
  using Params = LaplaceParams;
  static constexpr double kMean = 0;
  static constexpr char kCentralProof[] = "docs/proofs/central-laplace.md";
  static constexpr char kLocalProof[] = "docs/proofs/local-laplace.md";

  static absl::StatusOr<LaplaceNoise> Create(const LaplaceParams& params);

  /// Under `paper` twice the nominal epsilon: P2 takes the bound of a reward for its range.
  DpGuarantee delivered() const { return delivered_; }

  /// The scale, in whole units, that replacing one client's averages needs, or its one
  /// reward in one part.
  absl::StatusOr<std::uint64_t> Scale(const MeanQuery& query, int part = Report::kWhole) const;
  std::int64_t Draw(std::uint64_t scale, NoiseGen& noise) const;

  /// The sum of so many draws. Fast: a sum of continuous Laplace variables, rounded: its variance is above
  /// that of the discrete ones by less than draws/6 + 1/12 squared units.
  /// kOutOfRange, whatever is drawn, if it might not fit.
  absl::StatusOr<std::int64_t> DrawSum(std::uint64_t scale, Count draws, NoiseGen& noise) const;

  /// Of a sum of so many draws, in units. The moments of discrete Laplace noise are below the continuous
  /// one's (docs/proofs/central-laplace.md).
  NoiseLaw Law(std::uint64_t scale, Count draws) const;

 private:
  LaplaceNoise(double multiplier, DpGuarantee delivered, Sampler sampler)
      : multiplier_(multiplier), delivered_(delivered), sampler_(sampler) {}
  double multiplier_;  // scale / l1 sensitivity
  DpGuarantee delivered_;
  Sampler sampler_;
};

}  // namespace bandana
