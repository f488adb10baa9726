#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/lab/summary.h"
#include "bandana/lab/typed_flags.h"
#include "bandana/privacy/guarantee.h"

/// The answers of `bandana calibrate` and of bandana.calibrate in Python.
namespace bandana::lab {

/// A row of the table and a member of the JSON document. If it has no meaning, it is only in the document.
struct CalibrationFigure {
  std::string name;
  Json value;
  std::string meaning;
};

struct CalibrationAnswer {
  std::string mechanism;
  std::vector<CalibrationFigure> figures;
  std::optional<DpGuarantee> asked;  ///< empty if the user asked what a given noise delivers
  DpGuarantee delivered;
  std::string proof;
  std::string more;         ///< text below the table; may be empty
  Json alternatives;        ///< the content of `more` in the JSON document; may be null
  std::string name;         ///< the name by which the user asked
  std::string calibration;  ///< "tight" or "paper"

  /// Returns whether the guarantee that was asked for is delivered. A formula of a paper may fail to.
  bool met() const;
};

/// Calibrates "gaussian", "laplace", "prefix-sum", "shuffle-sum", "amplification" or "l2-ball". Errors name
/// flags.
absl::StatusOr<CalibrationAnswer> Calibrate(const std::string& name, const FlagValues& values);

Json ToJson(const CalibrationAnswer& answer);

}  // namespace bandana::lab
