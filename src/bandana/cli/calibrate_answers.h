#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/cli/typed_flags.h"
#include "bandana/lab/summary.h"
#include "bandana/privacy/guarantee.h"
#include "bandana/privacy/noise_options.h"

/// The answers of `bandana calibrate`. Each mechanism has one function, which reads its flags. Errors name
/// flags.
namespace bandana::cli {

/// A row of the table and a member of the JSON document. If it has no meaning, it is only in the document.
struct CalibrationFigure {
  std::string name;
  lab::Json value;
  std::string meaning;
};

struct CalibrationAnswer {
  std::string mechanism;
  std::vector<CalibrationFigure> figures;
  std::optional<DpGuarantee> asked;  ///< empty if the user asked what a given noise delivers
  DpGuarantee delivered;
  std::string proof;
  std::string more;        ///< text below the table; may be empty
  lab::Json alternatives;  ///< the content of `more` in the JSON document; may be null
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
