#pragma once

namespace bandana {

/// The data that an agent uses to decide while it waits for the next releases of the others.
enum class LocalData {
  kReleased,  ///< released sums only
  kRaw,       ///< also its own unreleased records, as in the papers; the claims of the algorithm are then
              ///< weaker (see each algorithm)
};

}  // namespace bandana
