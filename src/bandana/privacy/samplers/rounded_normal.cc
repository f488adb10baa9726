#include "bandana/privacy/samplers/rounded_normal.h"

#include <cmath>
#include <cstddef>

#include "bandana/core/check.h"
#include "bandana/core/distributions.h"
#include "bandana/privacy/samplers/karney.h"

namespace bandana {
namespace internal {
namespace {

using Wide = unsigned __int128;

// Returns floor(stddev x). The digits of x that are not used yet are worth less than `stddev` units of the
// last digit used; `gap` is the distance to the next integer in these units.
template <int kDigitBits>
std::uint64_t FloorOfProduct(std::uint64_t stddev, LazyUniform<kDigitBits>& x, NoiseGen& gen) {
  const Wide product = Wide{stddev} * x.Word(0, gen);
  const auto floor = static_cast<std::uint64_t>(product >> 64);
  Wide gap = (Wide{1} << 64) - static_cast<std::uint64_t>(product);
  for (std::size_t i = 1; gap < stddev; ++i) {
    gap <<= 64;
    const Wide more = Wide{stddev} * x.Word(i, gen);
    if (gap <= more) return floor + 1;
    gap -= more;
  }
  return floor;
}

// Draws by Algorithm N without the sign: floor(stddev (k + x)) where k + x is a half-normal.
template <int kDigitBits>
std::uint64_t Magnitude(std::uint64_t stddev, NoiseGen& gen) {
  Karney<kDigitBits> karney(gen);
  while (true) {
    const std::uint64_t k = karney.CellOfHalfNormal();
    LazyUniform<kDigitBits> x(gen);
    if (karney.AcceptFraction(k, x)) return stddev * k + FloorOfProduct(stddev, x, gen);
  }
}

void CheckStddev(std::uint64_t stddev) { BANDANA_CHECK(stddev > 0 && stddev < (std::uint64_t{1} << 52)); }

}  // namespace

// The magnitude overflows only if k exceeds 2^10, which has probability below exp(-2^19).
template <int kDigitBits>
std::int64_t RoundedNormalByDigits(std::uint64_t stddev, NoiseGen& gen) {
  CheckStddev(stddev);
  const auto magnitude = static_cast<std::int64_t>(Magnitude<kDigitBits>(stddev, gen));
  const bool negative = (gen() >> 63) != 0;
  return negative ? -magnitude - 1 : magnitude;
}

template std::int64_t RoundedNormalByDigits<1>(std::uint64_t, NoiseGen&);
template std::int64_t RoundedNormalByDigits<8>(std::uint64_t, NoiseGen&);
template std::int64_t RoundedNormalByDigits<64>(std::uint64_t, NoiseGen&);

}  // namespace internal

std::int64_t RoundedNormal(std::uint64_t stddev, NoiseGen& gen) {
  return internal::RoundedNormalByDigits<64>(stddev, gen);
}

std::int64_t FastRoundedNormal(std::uint64_t stddev, NoiseGen& gen) {
  internal::CheckStddev(stddev);
  return static_cast<std::int64_t>(std::floor(static_cast<double>(stddev) * StandardNormal(gen)));
}

}  // namespace bandana
