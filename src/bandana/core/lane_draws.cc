#include "bandana/core/lane_draws.h"

#include <algorithm>
#include <cstddef>
#include <numbers>

#include "bandana/core/bit_source.h"
#include "bandana/core/check.h"

namespace bandana {
namespace {

using lanes::BitsAs;
using lanes::Broadcast;
using lanes::Doubles;
using lanes::LongWords;
using lanes::MulAdd;
using SignedWords = lanes::Lanes<std::int64_t>;

constexpr std::size_t kLanes = lanes::kCount<double>;

template <std::size_t n>
Doubles Horner(const double (&coefficients)[n], const Doubles& x) {
  Doubles value = Broadcast(coefficients[n - 1]);
  for (std::size_t i = n - 1; i-- > 0;) value = MulAdd(value, x, Broadcast(coefficients[i]));
  return value;
}

/// Returns uniform multiples of 2^-52 in [1, 2), from the upper 52 bits of the words.
Doubles OneToTwo(const LongWords& words) { return BitsAs<Doubles>((words >> 12) | 0x3ff0000000000000u); }

struct Point {
  Doubles x;
  Doubles y;
};

/// Draws uniformly on the unit circle. The angle is first uniform between -pi/4 and pi/4. One random bit may
/// then change the sign of the cosine, and another may exchange the axes, which together covers the whole
/// circle. Polynomials: fdlibm, Sun Microsystems, 1993.
inline Point CirclePoint(const LongWords& words) {
  const Doubles angle = (OneToTwo(words) - 1.5) * (std::numbers::pi / 2);
  const Doubles square = angle * angle;
  static constexpr double kSine[] = {-1.66666666666666324348e-01, 8.33333333332248946124e-03,
                                     -1.98412698298579493134e-04, 2.75573137070700676789e-06,
                                     -2.50507602534068634195e-08, 1.58969099521155010221e-10};
  static constexpr double kCosine[] = {-0.5,
                                       4.16666666666666019037e-02,
                                       -1.38888888888741095749e-03,
                                       2.48015872894767294178e-05,
                                       -2.75573143513906633035e-07,
                                       2.08757232129817482790e-09,
                                       -1.13596475577881948265e-11};
  const Doubles sine = MulAdd(Horner(kSine, square) * square, angle, angle);
  Doubles cosine = MulAdd(Horner(kCosine, square), square, Broadcast(1.0));
  cosine = BitsAs<Doubles>(BitsAs<LongWords>(cosine) ^ (words << 63));
  const SignedWords exchange = BitsAs<SignedWords>(words << 62);
  return {exchange < 0 ? sine : cosine, exchange < 0 ? cosine : sine};
}

/// Returns ln of uniform multiples of 2^-52 in (0, 1]. Polynomial: fdlibm.
inline Doubles LogUniform(const LongWords& words) {
  constexpr std::uint64_t kRootHalf = 0x3fe6a09e667f3bcdu;
  const Doubles uniform = 2.0 - OneToTwo(words);
  // uniform = 2^e m, m in [sqrt(1/2), sqrt 2).
  const LongWords shifted = BitsAs<LongWords>(uniform) + (0x3ff0000000000000u - kRootHalf);
  const Doubles exponent = BitsAs<Doubles>((shifted >> 52) | 0x4330000000000000u) - (0x1p52 + 1023);
  const Doubles f = BitsAs<Doubles>((shifted & 0xfffffffffffffu) + kRootHalf) - 1.0;
  const Doubles s = f / (f + 2.0);
  const Doubles z = s * s;
  static constexpr double kLog[] = {
      6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
      1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01};
  const Doubles half_square = 0.5 * f * f;
  const Doubles log = f - (half_square - s * MulAdd(Horner(kLog, z), z, half_square));
  return MulAdd(exponent, Broadcast(std::numbers::ln2), log);
}

/// Returns exp x for x in [-700, 0], by Taylor's polynomial of degree 12 around multiples of ln 2.
inline Doubles Exp(const Doubles& x) {
  constexpr double kMagic = 0x1.8p52;  // after adding this, the last bits are the nearest integer
  constexpr double kLn2High = 6.93147180369123816490e-01;
  constexpr double kLn2Low = 1.90821492927058770002e-10;
  const Doubles shifted = MulAdd(x, Broadcast(std::numbers::log2e), Broadcast(kMagic));
  const Doubles whole = shifted - kMagic;
  const Doubles left = MulAdd(whole, Broadcast(-kLn2Low), MulAdd(whole, Broadcast(-kLn2High), x));
  static constexpr double kExp[] = {
      1,         1,          1. / 2,      1. / 6,       1. / 24,       1. / 120,      1. / 720,
      1. / 5040, 1. / 40320, 1. / 362880, 1. / 3628800, 1. / 39916800, 1. / 479001600};
  return BitsAs<Doubles>(BitsAs<LongWords>(Horner(kExp, left)) + (BitsAs<LongWords>(shifted) << 52));
}

/// Fills x and y with points drawn by `draw`, four at a time.
template <class Draw>
inline void FillPoints(std::span<double> x, std::span<double> y, Draw draw) {
  BANDANA_CHECK(x.size() == y.size());
  std::size_t i = 0;
  for (; i + kLanes <= x.size(); i += kLanes) {
    const Point point = draw();
    lanes::Store(x.data() + i, point.x);
    lanes::Store(y.data() + i, point.y);
  }
  if (i == x.size()) return;
  const Point point = draw();
  for (std::size_t lane = 0; i < x.size(); ++i, ++lane) {
    x[i] = point.x[lane];
    y[i] = point.y[lane];
  }
}

inline Point BoxMuller(LaneWords& words, double sd) {
  const Point direction = CirclePoint(words.Next());
  const Doubles radius = sd * lanes::Sqrt(-2.0 * LogUniform(words.Next()));
  return {radius * direction.x, radius * direction.y};
}

}  // namespace

std::array<std::uint64_t, LaneWords::kSeeds> LaneDraws::Seeds(CoinGen& coin) {
  std::array<std::uint64_t, LaneWords::kSeeds> seeds;
  for (std::uint64_t& seed : seeds) seed = coin();
  return seeds;
}

LaneDraws::LaneDraws(const StreamKey& key)
    : LaneDraws([&key] {
        PhiloxSource bits(key);
        CoinGen coin(bits);
        return Seeds(coin);
      }()) {}

void LaneDraws::Circle(double radius, std::span<double> x, std::span<double> y) {
  LaneWords words = words_;
  FillPoints(x, y, [&] {
    const Point point = CirclePoint(words.Next());
    return Point{radius * point.x, radius * point.y};
  });
  words_ = words;
}

void LaneDraws::SpherePlane(std::int64_t d, double scale, std::span<double> x, std::span<double> y) {
  BANDANA_CHECK(d > 2);
  const double power = 2 / static_cast<double>(d - 2);
  LaneWords words = words_;
  FillPoints(x, y, [&] {
    const Point direction = CirclePoint(words.Next());
    const Doubles rest = Exp(power * LogUniform(words.Next()));  // 1 - r^2
    const Doubles radius = scale * lanes::Sqrt(lanes::Max(1.0 - rest, Doubles{}));
    return Point{radius * direction.x, radius * direction.y};
  });
  words_ = words;
}

void LaneDraws::Normals(double sd, std::span<double> x, std::span<double> y) {
  LaneWords words = words_;
  FillPoints(x, y, [&] { return BoxMuller(words, sd); });
  words_ = words;
}

void LaneDraws::Normals(double sd, std::span<double> x) {
  LaneWords words = words_;
  for (; x.size() >= 2 * kLanes; x = x.subspan(2 * kLanes)) {
    const Point point = BoxMuller(words, sd);
    lanes::Store(x.data(), point.x);
    lanes::Store(x.data() + kLanes, point.y);
  }
  if (!x.empty()) {
    const Point point = BoxMuller(words, sd);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = i < kLanes ? point.x[i] : point.y[i - kLanes];
  }
  words_ = words;
}

double LaneDraws::Uniform() { return OneToTwo(words_.Next())[0] - (1 - 0x1p-53); }

}  // namespace bandana
