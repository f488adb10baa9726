#include "bandana/privacy/samplers/discrete_laplace.h"

#include "bandana/core/check.h"
#include "bandana/privacy/samplers/geometric.h"

namespace bandana {

std::int64_t DiscreteLaplace(Rational scale, NoiseGen& gen) {
  BANDANA_CHECK(scale.num > 0 && scale.den > 0);
  BANDANA_CHECK(scale.num / scale.den < (std::uint64_t{1} << 52));
  while (true) {
    const auto magnitude = static_cast<std::int64_t>(Geometric({scale.den, scale.num}, gen));
    const bool negative = (gen() >> 63) != 0;
    if (negative && magnitude == 0) continue;  // 0 has one representation, not two
    return negative ? -magnitude : magnitude;
  }
}

}  // namespace bandana
