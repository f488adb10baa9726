#pragma once

#include <cstdint>
#include <span>

#include "bandana/core/generators.h"
#include "bandana/privacy/samplers/rational.h"

/// Uniform directions in R^d, 1 <= d <= 2^24, as vectors of odd integers below 2^51 in magnitude. Each
/// coordinate is 2 RoundedNormal(2^40) + 1: a normal rounded to an odd multiple of half a unit. So every
/// direction is exactly as likely as its opposite, and none is zero. Decisions are made in integers. The law
/// is uniform on the sphere up to 2^-40 in the coordinates of the normal vector. docs/proofs/sphere.md says
/// which results depend on that and which do not (the half-sphere's privacy).
///
/// An axis is given by integers below 2^52 in magnitude, for instance a vector in grid units.
namespace bandana {

void UniformDirection(std::span<std::int64_t> direction, NoiseGen& gen);

/// Draws uniformly given <direction, axis> >= 0, by negating a uniform direction if necessary. A fair coin
/// decides a tie, so that the opposite of the result is uniform on the opposite half for every axis, zero
/// included.
void UniformOnHalfSphere(std::span<const std::int64_t> axis, std::span<std::int64_t> direction,
                         NoiseGen& gen);

enum class CapSide { kInside, kOutside };

/// Draws uniformly on the cap <direction, axis> >= cosine |direction| |axis| or on the rest of the sphere, by
/// rejection: it draws 1/P(side) directions on average. The axis must not be zero; cosine <= 1, its den at
/// most 2^62.
void UniformByCap(std::span<const std::int64_t> axis, Rational cosine, CapSide side,
                  std::span<std::int64_t> direction, NoiseGen& gen);

bool InCap(std::span<const std::int64_t> direction, std::span<const std::int64_t> axis, Rational cosine);

/// Writes direction/|direction|, each coordinate with a relative error of at most 2^-52, by operations that
/// IEEE 754 rounds correctly. The result is the same on every machine, and opposite for opposite directions.
void ToUnitVector(std::span<const std::int64_t> direction, std::span<double> unit);

}  // namespace bandana
