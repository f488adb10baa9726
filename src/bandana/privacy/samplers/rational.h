#pragma once

#include <cstdint>

namespace bandana {

/// The number num/den, den > 0, not necessarily in lowest terms. Parameters of the exact samplers are
/// rational, so that integers suffice to draw from their laws.
struct Rational {
  std::uint64_t num = 0;
  std::uint64_t den = 1;
};

}  // namespace bandana
