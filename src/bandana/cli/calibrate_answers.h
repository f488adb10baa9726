#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/cli/typed_flags.h"
#include "bandana/lab/summary.h"
#include "bandana/privacy/guarantee.h"
#include "bandana/privacy/noise_options.h"

/// What `bandana calibrate` answers: one function a mechanism, from its flags. Errors name flags.
namespace bandana::cli {

/// A row of the table and a member of the JSON document; without a meaning, of the document alone.
struct CalibrationFigure {
  std::string name;
  lab::Json value;
  std::string meaning;
};

struct CalibrationAnswer {
  std::string mechanism;
  std::vector<CalibrationFigure> figures;
  std::optional<DpGuarantee> asked;  ///< nothing where the question was what is delivered
  DpGuarantee delivered;
  std::string proof;
  std::string more;        ///< to show to a person
  lab::Json alternatives;  ///< the same for a program; may be null
};

using CalibrationFunction = absl::StatusOr<CalibrationAnswer>(const TypedFlags& flags,
                                                              Calibration calibration);

CalibrationFunction CalibrateGaussian;
CalibrationFunction CalibrateLaplace;
CalibrationFunction CalibratePrefixSum;
CalibrationFunction CalibrateShuffleSum;
CalibrationFunction CalibrateAmplification;
CalibrationFunction CalibrateL2Ball;

}  // namespace bandana::cli
