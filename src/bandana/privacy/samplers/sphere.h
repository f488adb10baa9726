#pragma once

#include <cstdint>
#include <span>

#include "bandana/core/generators.h"
#include "bandana/privacy/samplers/rational.h"

/// Uniform directions in R^d, 1 <= d <= 2^24, as vectors of odd integers below 2^51 in magnitude: each
/// coordinate is 2 RoundedNormal(2^40) + 1, i.e. a normal rounded to an odd multiple of half a unit. So every
/// direction is exactly as likely as its opposite, and none is zero. Decisions are made in integers. Uniform
/// on the sphere up to 2^-40 in the coordinates of the normal vector: what depends on that, and what does not
/// (the half-sphere's privacy), is in docs/proofs/sphere.md.
///
/// An axis is given by integers below 2^52 in magnitude, for instance a vector in units of a grid.
namespace bandana {

void UniformDirection(std::span<std::int64_t> direction, NoiseGen& gen);

/// Uniform given <direction, axis> >= 0, by turning a uniform direction round. A tie is decided by a fair
/// coin, so that the opposite of the result is uniform on the opposite half for every axis, zero included.
void UniformOnHalfSphere(std::span<const std::int64_t> axis, std::span<std::int64_t> direction,
                         NoiseGen& gen);

enum class CapSide { kInside, kOutside };

/// Uniform on the cap <direction, axis> >= cosine |direction| |axis| or on the rest of the sphere, by
/// rejection: 1/P(side) directions are drawn on average. The axis is not zero; cosine <= 1, its den at most
/// 2^62.
void UniformByCap(std::span<const std::int64_t> axis, Rational cosine, CapSide side,
                  std::span<std::int64_t> direction, NoiseGen& gen);

bool InCap(std::span<const std::int64_t> direction, std::span<const std::int64_t> axis, Rational cosine);

/// direction/|direction|, each coordinate to within 2^-52 relatively, by operations that IEEE 754 rounds
/// correctly: the same on every machine, and opposite for opposite directions.
void ToUnitVector(std::span<const std::int64_t> direction, std::span<double> unit);

}  // namespace bandana
