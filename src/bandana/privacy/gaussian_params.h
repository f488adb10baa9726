#pragma once

#include "absl/status/statusor.h"
#include "bandana/privacy/guarantee.h"

namespace bandana {

enum class Calibration { kTight, kPaper };  ///< the least noise provable; or the paper's own formula
enum class Sampler { kExact, kFast };       ///< integer arithmetic; or floating point, for the lab alone

/// What the Gaussian mechanisms are asked for. No defaults: a forgotten budget must not compile into one.
struct GaussianParams {
  DpGuarantee nominal;
  Calibration calibration;
  Sampler sampler;
};

/// A validated request with its noise multiplier (standard deviation / l2 sensitivity) and what that
/// delivers.
struct GaussianSetting {
  double multiplier;
  DpGuarantee delivered;
  Sampler sampler;
};

absl::StatusOr<GaussianSetting> SetUpGaussian(const GaussianParams& params);

}  // namespace bandana
