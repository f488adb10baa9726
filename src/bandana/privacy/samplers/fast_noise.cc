#include "bandana/privacy/samplers/fast_noise.h"

#include <cmath>

#include "bandana/core/check.h"
#include "bandana/core/distributions.h"

namespace bandana {
namespace {

// A gamma variable is scale (1 + excess). The two are kept apart so that a difference of two variables loses
// no digits.
class GammaLaw {
 public:
  explicit GammaLaw(double shape) : scale_(shape - 1.0 / 3), spread_(1 / std::sqrt(9 * scale_)) {
    BANDANA_CHECK(shape >= 1 && shape <= 0x1p62);
  }

  double scale() const { return scale_; }

  double Excess(NoiseGen& gen) const {
    while (true) {
      const double x = StandardNormal(gen);
      const double y = spread_ * x;
      if (y <= -1) continue;
      const double excess = y * (3 + y * (3 + y));  // (1 + y)^3 - 1
      const double u = internal::UniformPositive(gen);
      const double square = x * x;
      if (u < 1 - 0.0331 * square * square) return excess;
      if (std::log(u) < 0.5 * square + scale_ * (3 * std::log1p(y) - excess)) return excess;
    }
  }

 private:
  double scale_;
  double spread_;
};

}  // namespace

double SumOfLaplace(std::uint64_t n, NoiseGen& gen) {
  if (n == 0) return 0;
  const GammaLaw law(static_cast<double>(n));
  const double first = law.Excess(gen);
  return law.scale() * (first - law.Excess(gen));
}

}  // namespace bandana
