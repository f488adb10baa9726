#pragma once

namespace bandana {

/// What an agent decides by where nobody else's data are there yet.
enum class LocalData {
  kReleased,  ///< what everybody knows
  kRaw,       ///< its own unreleased records too, as papers print it: claims then hold for less (see each
              ///< algorithm)
};

}  // namespace bandana
