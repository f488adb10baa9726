#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "bandana/core/generators.h"
#include "bandana/privacy/claim.h"

namespace bandana::audit {

/// One of two neighbouring inputs, as far apart as the claim allows.
enum class Neighbour { kFirst, kSecond };

/// Something to attack: a mechanism whose input is fixed except for the neighbour, and the view of its
/// adversary.
struct Target {
  std::string name;
  std::optional<Claim> claim;  ///< none: nothing can be refuted, and the audit only measures
  std::size_t dimension = 0;   ///< the dimension of the view

  /// Runs once: writes what the adversary sees. All randomness comes from the generator. Called from several
  /// threads at once.
  std::function<absl::Status(Neighbour, NoiseGen&, std::span<double> view)> draw;

  /// Does what `draw` does, several times at once: writes views one after the other. It is for mechanisms
  /// that are cheaper by the block, such as those in Python. If it is set, `draw` is not used.
  std::function<absl::Status(Neighbour, NoiseGen&, std::span<double> views)> draw_block = {};

  /// The direction in the view from the first neighbour to the second, if it is known; otherwise it is
  /// learned.
  std::vector<double> direction = {};

  /// ln of the second neighbour's density over the first's, up to a constant, if the distribution is known.
  /// It only makes the audit sharper: a wrong one makes the audit weak, but never unsound.
  std::function<double(std::span<const double> view)> log_ratio = {};
};

}  // namespace bandana::audit
