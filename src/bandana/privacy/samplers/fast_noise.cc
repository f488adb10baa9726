#include "bandana/privacy/samplers/fast_noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "bandana/core/check.h"
#include "bandana/core/distributions.h"

namespace bandana {
namespace {

// The words of many draws are made before any is used: the generator's multiplications then overlap, and the
// rare words that are refused do not hold it up.
template <class Law>
void Fill(std::span<double> out, NoiseGen& gen) {
  std::array<std::uint64_t, 256> words;
  while (!out.empty()) {
    const std::size_t n = std::min(out.size(), words.size());
    for (std::size_t i = 0; i < n; ++i) words[i] = gen();
    for (std::size_t i = 0; i < n; ++i) out[i] = internal::ZigguratFrom<Law>(words[i], gen);
    out = out.subspan(n);
  }
}

// A gamma variable is scale (1 + excess); kept apart so that a difference of two loses nothing.
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

void FillStandardNormal(std::span<double> out, NoiseGen& gen) { Fill<internal::NormalZiggurat>(out, gen); }

void FillStandardLaplace(std::span<double> out, NoiseGen& gen) { Fill<internal::LaplaceZiggurat>(out, gen); }

double StandardGamma(double shape, NoiseGen& gen) {
  const GammaLaw law(shape);
  return law.scale() * (1 + law.Excess(gen));
}

double SumOfLaplace(std::uint64_t n, NoiseGen& gen) {
  if (n == 0) return 0;
  const GammaLaw law(static_cast<double>(n));
  const double first = law.Excess(gen);
  return law.scale() * (first - law.Excess(gen));
}

}  // namespace bandana
