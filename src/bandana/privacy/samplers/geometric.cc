#include "bandana/privacy/samplers/geometric.h"

#include "bandana/core/check.h"
#include "bandana/core/distributions.h"
#include "bandana/privacy/samplers/bernoulli_exp.h"

namespace bandana {
namespace {

using Wide = unsigned __int128;

// Draws x >= 0 with probability proportional to exp(-x/scale).
Wide GeometricOfScale(std::uint64_t scale, NoiseGen& gen) {
  std::uint64_t rest = UniformBelow(scale, gen);
  while (!BernoulliExp({rest, scale}, gen)) rest = UniformBelow(scale, gen);
  std::uint64_t whole = 0;
  while (BernoulliExp({1, 1}, gen)) ++whole;
  return Wide{scale} * whole + rest;
}

}  // namespace

std::uint64_t Geometric(Rational rate, NoiseGen& gen) {
  BANDANA_CHECK(rate.num > 0 && rate.den > 0);
  BANDANA_CHECK(rate.den / rate.num < (std::uint64_t{1} << 52));
  const Wide k = GeometricOfScale(rate.den, gen) / rate.num;
  BANDANA_CHECK(k < (Wide{1} << 62));  // fails with probability below exp(-1000)
  return static_cast<std::uint64_t>(k);
}

}  // namespace bandana
