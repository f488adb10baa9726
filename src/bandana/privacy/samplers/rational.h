#pragma once

#include <cstdint>

namespace bandana {

/// num/den, den > 0, not necessarily in lowest terms. Parameters of the exact samplers are rational, so that
/// their laws can be had with integers alone.
struct Rational {
  std::uint64_t num = 0;
  std::uint64_t den = 1;
};

}  // namespace bandana
