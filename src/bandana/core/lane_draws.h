#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "bandana/core/bit_source.h"
#include "bandana/core/generators.h"
#include "bandana/core/lanes.h"

namespace bandana {

/// Four streams of xoshiro256++ side by side, each with a state of its own. D. Blackman, S. Vigna,
/// "Scrambled linear pseudorandom number generators", ACM TOMS 47(4), 2021.
class LaneWords {
 public:
  static constexpr int kSeeds = 16;

  explicit LaneWords(const std::uint64_t* seeds) {
    for (int i = 0; i < 4; ++i) state_[i] = lanes::Load(seeds + 4 * i);
  }

  lanes::LongWords Next() {
    const lanes::LongWords result = Rotate<23>(state_[0] + state_[3]) + state_[0];
    const lanes::LongWords shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = Rotate<45>(state_[3]);
    return result;
  }

 private:
  template <int bits>
  static lanes::LongWords Rotate(const lanes::LongWords& x) {
    return (x << bits) | (x >> (64 - bits));
  }

  std::array<lanes::LongWords, 4> state_;
};

/// Makes many draws at once, in double precision, for environments. The bits are a long stream of LaneWords
/// seeded by a coin. The laws are exact up to the rounding of doubles and grids of 2^-52, so they are never
/// used for privacy noise.
class LaneDraws {
 public:
  explicit LaneDraws(CoinGen& coin) : LaneDraws(Seeds(coin)) {}
  /// Takes the seeds from the stream of this key.
  explicit LaneDraws(const StreamKey& key);

  /// Draws points (x[i], y[i]) uniformly on the circle of this radius. Both spans have the same length.
  void Circle(double radius, std::span<double> x, std::span<double> y);

  /// Draws points uniformly on the unit sphere of R^d, d > 2, and writes their first two coordinates times
  /// `scale`. These are r (cos, sin) with a uniform angle and P(r^2 <= h) = 1 - (1 - h)^((d - 2) / 2).
  void SpherePlane(std::int64_t d, double scale, std::span<double> x, std::span<double> y);

  /// Draws independent variables from N(0, sd^2), by G. E. P. Box, M. E. Muller, Ann. Math. Statist. 29(2),
  /// 1958.
  void Normals(double sd, std::span<double> x, std::span<double> y);
  void Normals(double sd, std::span<double> x);

  /// Draws uniformly on (0, 1).
  double Uniform();

 private:
  explicit LaneDraws(const std::array<std::uint64_t, LaneWords::kSeeds>& seeds) : words_(seeds.data()) {}
  static std::array<std::uint64_t, LaneWords::kSeeds> Seeds(CoinGen& coin);

  LaneWords words_;
};

}  // namespace bandana
