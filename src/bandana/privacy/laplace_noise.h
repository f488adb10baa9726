#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "bandana/core/generators.h"
#include "bandana/privacy/guarantee.h"
#include "bandana/privacy/noise_law.h"
#include "bandana/privacy/noise_options.h"
#include "bandana/privacy/report.h"

namespace bandana {

/// The parameters of the Laplace mechanisms, which give pure differential privacy (delta = 0).
struct LaplaceParams {
  double epsilon;
  Calibration calibration;
  Sampler sampler;
};

/// Discrete Laplace noise on the grid of GridMean, with a scale proportional to the query's l1 sensitivity.
class LaplaceNoise {
 public:
  using Params = LaplaceParams;
  static constexpr double kMean = 0;
  static constexpr char kCentralProof[] = "docs/proofs/central-laplace.md";
  static constexpr char kLocalProof[] = "docs/proofs/local-laplace.md";

  static absl::StatusOr<LaplaceNoise> Create(const LaplaceParams& params);

  /// Returns the guarantee that the noise delivers. Under Calibration::kPaper it is twice the nominal
  /// epsilon, because P2 uses the bound of a reward where it needs the range.
  DpGuarantee delivered() const { return delivered_; }

  /// Returns the scale, in whole grid units, that hides the replacement of one client. With a part, the
  /// client has one reward, in that part.
  absl::StatusOr<std::uint64_t> Scale(const MeanQuery& query, int part = Report::kWhole) const;
  std::int64_t Draw(std::uint64_t scale, NoiseGen& noise) const;

  /// Draws the sum of `draws` draws. The fast sampler draws a sum of continuous Laplace variables and rounds
  /// it; its variance exceeds that of the discrete sum by less than draws/6 + 1/12 squared units. Fails with
  /// kOutOfRange if the sum might not fit 64 bits; this does not depend on the values drawn.
  absl::StatusOr<std::int64_t> DrawSum(std::uint64_t scale, Count draws, NoiseGen& noise) const;

  /// Returns the law of the sum of `draws` draws, in grid units. It is that of continuous Laplace noise,
  /// whose moments are above those of the discrete noise (docs/proofs/central-laplace.md).
  NoiseLaw Law(std::uint64_t scale, Count draws) const;

 private:
  LaplaceNoise(double multiplier, DpGuarantee delivered, Sampler sampler)
      : multiplier_(multiplier), delivered_(delivered), sampler_(sampler) {}
  double multiplier_;  // scale / l1 sensitivity
  DpGuarantee delivered_;
  Sampler sampler_;
};

}  // namespace bandana
