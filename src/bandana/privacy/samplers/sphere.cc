#include "bandana/privacy/samplers/sphere.h"

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstddef>

#include "bandana/core/check.h"
#include "bandana/privacy/samplers/rounded_normal.h"

namespace bandana {
namespace {

using SignedWide = __int128;
using Exact = boost::multiprecision::int512_t;

constexpr std::uint64_t kStddev = std::uint64_t{1} << 40;
constexpr std::int64_t kDirectionLimit = std::int64_t{1} << 51;
constexpr std::int64_t kAxisLimit = std::int64_t{1} << 52;

// The result is below 2^51 2^52 2^24 in magnitude.
SignedWide Dot(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  SignedWide sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += SignedWide{a[i]} * b[i];
  return sum;
}

void CheckDimension(std::size_t d) { BANDANA_CHECK(d > 0 && d <= (std::size_t{1} << 24)); }

void CheckDirection(std::span<const std::int64_t> direction) {
  CheckDimension(direction.size());
  for (const std::int64_t coordinate : direction) {
    BANDANA_CHECK(coordinate > -kDirectionLimit && coordinate < kDirectionLimit);
  }
}

void CheckAxis(std::span<const std::int64_t> axis, std::span<const std::int64_t> direction) {
  BANDANA_CHECK(axis.size() == direction.size());
  for (const std::int64_t coordinate : axis) {
    BANDANA_CHECK(coordinate > -kAxisLimit && coordinate < kAxisLimit);
  }
}

}  // namespace

void UniformDirection(std::span<std::int64_t> direction, NoiseGen& gen) {
  CheckDimension(direction.size());
  for (std::int64_t& coordinate : direction) coordinate = 2 * RoundedNormal(kStddev, gen) + 1;
  CheckDirection(direction);  // fails with probability below exp(-2^19): a normal beyond 2^10
}

void UniformOnHalfSphere(std::span<const std::int64_t> axis, std::span<std::int64_t> direction,
                         NoiseGen& gen) {
  CheckAxis(axis, direction);
  UniformDirection(direction, gen);
  const SignedWide product = Dot(direction, axis);
  const bool turn = product == 0 ? (gen() >> 63) != 0 : product < 0;
  if (!turn) return;
  for (std::int64_t& coordinate : direction) coordinate = -coordinate;
}

bool InCap(std::span<const std::int64_t> direction, std::span<const std::int64_t> axis, Rational cosine) {
  CheckDirection(direction);
  CheckAxis(axis, direction);
  BANDANA_CHECK(cosine.den > 0 && cosine.den <= (std::uint64_t{1} << 62));
  BANDANA_CHECK(cosine.num <= cosine.den);
  const SignedWide product = Dot(direction, axis);
  if (product < 0) return false;
  const Exact left = Exact(product) * cosine.den;  // both sides have at most 127 + 62 bits before squaring
  const Exact right = Exact(cosine.num) * cosine.num * Exact(Dot(direction, direction));
  return left * left >= right * Exact(Dot(axis, axis));
}

void UniformByCap(std::span<const std::int64_t> axis, Rational cosine, CapSide side,
                  std::span<std::int64_t> direction, NoiseGen& gen) {
  CheckAxis(axis, direction);
  BANDANA_CHECK(Dot(axis, axis) != 0);
  do {
    UniformDirection(direction, gen);
  } while (InCap(direction, axis, cosine) != (side == CapSide::kInside));
}

void ToUnitVector(std::span<const std::int64_t> direction, std::span<double> unit) {
  BANDANA_CHECK(direction.size() == unit.size());
  CheckDirection(direction);
  const double norm = std::sqrt(static_cast<double>(Dot(direction, direction)));
  BANDANA_CHECK(norm > 0);
  for (std::size_t i = 0; i < unit.size(); ++i) unit[i] = static_cast<double>(direction[i]) / norm;
}

}  // namespace bandana
