#pragma once

namespace bandana {

/// Which confidence width to use.
enum class Width {
  kExact,  ///< the tightest that we can prove
  kPaper   ///< the formula in the paper
};

}  // namespace bandana
