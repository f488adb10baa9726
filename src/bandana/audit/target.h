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

/// One of two inputs that the claim must hide from each other, as far apart as it allows.
enum class Neighbour { kFirst, kSecond };

/// Something to attack: a mechanism with its input fixed up to a neighbour, and what its adversary sees.
struct Target {
  std::string name;
  std::optional<Claim> claim;  ///< none: nothing can be refuted, the audit only measures
  std::size_t dimension = 0;   ///< of the view

  /// One run: writes what the adversary sees, all of its randomness drawn from the generator. Called from
  /// several threads at once.
  std::function<absl::Status(Neighbour, NoiseGen&, std::span<double> view)> draw;

  /// The direction from the first neighbour to the second in the view, if it is known; learned otherwise.
  std::vector<double> direction = {};

  /// ln of the second's density over the first's, up to a constant, if the law is known. Only a sharper way
  /// to look: a wrong one makes the audit weak, never unsound.
  std::function<double(std::span<const double> view)> log_ratio = {};
};

}  // namespace bandana::audit
