#include "bandana/privacy/samplers/discrete_gaussian.h"

#include <cmath>

#include "bandana/core/check.h"
#include "bandana/core/distributions.h"
#include "bandana/privacy/samplers/bernoulli_exp.h"
#include "bandana/privacy/samplers/karney.h"

namespace bandana {
namespace internal {

// Karney's k is below 2^10 except with probability below exp(-2^19), so no number here exceeds 63 bits. With
// stddev = p/q, candidates in the cell [k p/q, (k + 1) p/q) are k p/q + x p/q, x = excess/p.
template <int kDigitBits>
std::int64_t DiscreteGaussianByDigits(Rational stddev, NoiseGen& gen) {
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 52;
  const auto [p, q] = stddev;
  BANDANA_CHECK(p > 0 && p < kLimit);
  BANDANA_CHECK(q > 0 && q < kLimit);
  const std::uint64_t width = (p - 1) / q + 1;
  Karney<kDigitBits> karney(gen);
  while (true) {
    const std::uint64_t k = karney.CellOfHalfNormal();
    BANDANA_CHECK(k < 1024);
    const std::uint64_t first = (k * p + q - 1) / q;
    const std::uint64_t magnitude = first + UniformBelow(width, gen);
    const std::uint64_t excess = magnitude * q - k * p;
    if (excess >= p) continue;
    LazyRatio<kDigitBits> x(excess, p);
    if (!karney.AcceptFraction(k, x)) continue;
    const bool negative = (gen() >> 63) != 0;
    if (negative && magnitude == 0) continue;  // 0 has one representation, not two
    return negative ? -static_cast<std::int64_t>(magnitude) : static_cast<std::int64_t>(magnitude);
  }
}

template std::int64_t DiscreteGaussianByDigits<1>(Rational, NoiseGen&);
template std::int64_t DiscreteGaussianByDigits<8>(Rational, NoiseGen&);
template std::int64_t DiscreteGaussianByDigits<64>(Rational, NoiseGen&);

namespace {

// Returns the least w with w^2 >= x. The first guess may be off in either direction; the result is exact.
std::uint64_t CeilOfSqrt(std::uint64_t x) {
  auto root = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(x)));
  while (root * root >= x && root > 0) --root;
  while (root * root < x) ++root;
  return root;
}

}  // namespace
}  // namespace internal

std::int64_t DiscreteGaussian(Rational stddev, NoiseGen& gen) {
  return internal::DiscreteGaussianByDigits<64>(stddev, gen);
}

// Draws x with w, the least integer standard deviation that is large enough, and accepts it with probability
// exp(-(x/w)^2 e), e = (w^2/variance - 1)/2, in pieces of exponent at most 1.
std::int64_t DiscreteGaussianOfVariance(Rational variance, NoiseGen& gen) {
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 61;
  const auto [num, den] = variance;
  BANDANA_CHECK(num > 0 && num < kLimit);
  BANDANA_CHECK(den > 0 && den < kLimit);
  const std::uint64_t w = internal::CeilOfSqrt((num - 1) / den + 1);
  const std::uint64_t surplus = w * w * den - num;  // at most 3 num, or below den if w = 1
  if (surplus == 0) return DiscreteGaussian({w, 1}, gen);
  const std::uint64_t pieces = (surplus - 1) / (2 * num) + 1;
  const Rational e{surplus, 2 * num * pieces};
  while (true) {
    const std::int64_t x = DiscreteGaussian({w, 1}, gen);
    const auto magnitude = static_cast<std::uint64_t>(x < 0 ? -x : x);
    const std::uint64_t cells = (magnitude + w - 1) / w;
    const Rational within{magnitude, cells * w};
    const auto event = [&] { return Bernoulli(e, gen) && Bernoulli(within, gen) && Bernoulli(within, gen); };
    bool accepted = true;
    for (std::uint64_t i = 0; accepted && i < cells * cells; ++i) {
      for (std::uint64_t j = 0; accepted && j < pieces; ++j) accepted = BernoulliExpOfEvent(event, gen);
    }
    if (accepted) return x;
  }
}

}  // namespace bandana
