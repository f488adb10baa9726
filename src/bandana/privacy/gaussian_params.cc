#include "bandana/privacy/gaussian_params.h"

#include "bandana/core/status.h"
#include "bandana/privacy/calibration/gaussian.h"

namespace bandana {

absl::StatusOr<GaussianSetting> SetUpGaussian(const GaussianParams& params) {
  if (params.calibration == Calibration::kTight) {
    BANDANA_ASSIGN_OR_RETURN(const double multiplier, TightGaussianMultiplier(params.nominal));
    return GaussianSetting{multiplier, params.nominal, params.sampler};
  }
  BANDANA_ASSIGN_OR_RETURN(const double multiplier, ClassicGaussianMultiplier(params.nominal));
  // The classic formula is loose for epsilon <= 1 and wrong above it: say what it gives at the nominal delta.
  return GaussianSetting{
      multiplier, {GaussianEpsilon(params.nominal.delta, multiplier), params.nominal.delta}, params.sampler};
}

}  // namespace bandana
