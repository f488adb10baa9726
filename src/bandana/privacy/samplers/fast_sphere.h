#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bandana/core/distributions.h"
#include "bandana/core/generators.h"

/// Directions for the lab (`sampler = fast`). The laws are those of samplers/sphere.h up to the rounding of
/// doubles. A small cap takes no more time than a large one.
namespace bandana {

namespace internal {

struct CosSin {
  double cos;
  double sin;
};

/// Returns cosine and sine of an angle in turns, |turns| < 2^48, to 2^-51. It uses only arithmetic that IEEE
/// 754 rounds, so that all machines draw the same numbers.
inline CosSin OfTurns(double turns) {
  constexpr double kShift = 0x1.8p52;
  const double shifted = 4 * turns + kShift;
  const double quarters = shifted - kShift;
  const auto quarter = std::bit_cast<std::uint64_t>(shifted);
  const double x = std::fma(-0.25, quarters, turns) * 6.283185307179586476925;  // at most pi/4
  const double y = x * x;
  // Taylor's series. The remainder is below 2^-53.
  const auto more = [y](double sum, double coefficient) { return std::fma(sum, y, coefficient); };
  double sin = more(-1. / 1307674368000, 1. / 6227020800);
  sin = more(more(more(sin, -1. / 39916800), 1. / 362880), -1. / 5040);
  sin = x * more(more(more(sin, 1. / 120), -1. / 6), 1);
  double cos = more(1. / 20922789888000, -1. / 87178291200);
  cos = more(more(more(cos, 1. / 479001600), -1. / 3628800), 1. / 40320);
  cos = more(more(more(more(cos, -1. / 720), 1. / 24), -0.5), 1);
  // Rotates by quarter turns without branches, which would be mispredicted.
  const auto bits_of_cos = std::bit_cast<std::uint64_t>(cos);
  const auto bits_of_sin = std::bit_cast<std::uint64_t>(sin);
  const std::uint64_t swapped = (bits_of_cos ^ bits_of_sin) & -(quarter & 1);
  const std::uint64_t turned_cos = bits_of_cos ^ swapped ^ (((quarter + 1) & 2) << 62);
  const std::uint64_t turned_sin = bits_of_sin ^ swapped ^ ((quarter & 2) << 62);
  return {std::bit_cast<double>(turned_cos), std::bit_cast<double>(turned_sin)};
}

/// Draws <u, v> for v uniform on the sphere of R^d, d >= 3, given that it lies in an interval. It chooses one
/// of several columns of equal probability, and then draws in the column by rejection.
class SphereHeight {
 public:
  SphereHeight() = default;
  /// -1 <= low < high <= 1.
  SphereHeight(std::int64_t dimension, double low, double high);

  double Draw(NoiseGen& gen) const {
    std::uint64_t bits = gen();
    const Column& column = columns_[bits % kColumns];
    while (true) {
      const double t = column.low + static_cast<double>(bits >> 11) * 0x1p-53 * column.width;
      const double height = UniformUnit(gen);
      if (height < column.least) [[likely]]
        return t;
      if (height < std::exp(power_ * std::log1p(-t * t) - column.log_most)) return t;
      bits = gen();
    }
  }

 private:
  static constexpr std::size_t kColumns = 64;
  struct Column {
    double low;
    double width;
    double log_most;  // ln of the largest density (1 - t^2)^power in the column
    double least;     // least density in the column divided by the largest
  };
  double power_ = 0;
  std::array<Column, kColumns> columns_{};
};

}  // namespace internal

/// Draws uniformly on the cap {v : <u, v> >= gamma} of the unit sphere with probability p, 0 <= gamma < 1,
/// and uniformly on the rest of the sphere otherwise. p must be at least the cap's share of the sphere.
class FastCap {
 public:
  FastCap(std::int64_t dimension, double p, double gamma);

  /// Writes `length`, of either sign, times a direction. The axis u is `axis` times `inverse`, a unit vector.
  void Draw(std::span<const double> axis, double inverse, double length, NoiseGen& gen,
            std::span<double> out) const {
    if (axis.size() != 2) return DrawInSpace(axis, inverse, length, gen, out);
    // The quantile function of the angle consists of two lines that meet at p. The second one is steeper.
    const double u = UniformUnit(gen) - p_;
    const auto [cos, sin] = internal::OfTurns(cap_turns_ + std::max(u * in_turns_, u * out_turns_));
    const double x = axis[0] * inverse * length;
    const double y = axis[1] * inverse * length;
    out[0] = cos * x - sin * y;
    out[1] = sin * x + cos * y;
  }

  /// Writes `length` times a uniform direction.
  static void DrawUniform(double length, NoiseGen& gen, std::span<double> out) {
    if (out.size() != 2) return DrawUniformInSpace(length, gen, out);
    const auto [cos, sin] = internal::OfTurns(UniformUnit(gen) - 0.5);
    out[0] = length * cos;
    out[1] = length * sin;
  }

 private:
  void DrawInSpace(std::span<const double> axis, double inverse, double length, NoiseGen& gen,
                   std::span<double> out) const;
  static void DrawUniformInSpace(double length, NoiseGen& gen, std::span<double> out);

  double p_;
  double gamma_;
  double cap_turns_ = 0;  // in the plane: the angle between the cap's axis and its edge, in turns
  double in_turns_ = 0;   // turns per unit of probability, inside the cap
  double out_turns_ = 0;
  internal::SphereHeight in_heights_;  // in three dimensions and more
  internal::SphereHeight out_heights_;
};

}  // namespace bandana
