#include "bandana/privacy/l2_ball_exact.h"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <numbers>

#include "bandana/core/check.h"
#include "bandana/core/infinity.h"
#include "bandana/core/status.h"
#include "bandana/privacy/samplers/sphere.h"
#include "bandana/privacy/shortened.h"
#include "fmt/format.h"

namespace bandana {
namespace {

constexpr double kAxisUnits = 0x1p40;  // the length of the radius in units of the axis

// Returns a bound on how far a cap's mass on the sampler's lattice may be from its mass on the sphere:
// docs/proofs/sphere.md, at the best t, rounded up.
double CapMassError(std::int64_t dimension) {
  if (dimension == 1) return 0;
  const auto d = static_cast<double>(dimension);
  double least = 1;
  for (double t = 0x1p-20; t <= std::sqrt(d); t *= 2) {
    const double angle = std::asin(std::min(1.0, std::sqrt(d) / (0x1p41 * t)));
    const double short_normal = boost::math::gamma_p(d / 2, t * t / 2);  // P(|N| < t)
    least = std::min(least, 2 * angle * std::sqrt((d - 1) / (2 * std::numbers::pi)) + short_normal);
  }
  return least * (1 + 1e-9);
}

// Returns what the lattice adds to epsilon: both quotients of the proof, with the cap's mass at its worst.
double LatticeCost(const L2BallSetting& setting, std::int64_t dimension) {
  const double error = CapMassError(dimension);
  const double mass = setting.cap_mass;
  if (!(error < mass / 2 && error < (1 - mass) / 2)) return kInfinity;
  return 2 * (-std::log1p(-error / mass) - std::log1p(-error / (1 - mass)));
}

}  // namespace

absl::StatusOr<ExactL2Ball> SetUpExactL2Ball(L2BallRandomizer randomizer, std::int64_t dimension,
                                             double epsilon, double radius) {
  constexpr double kLeastCap = 1e-6;  // rejection hits a smaller cap too rarely
  BANDANA_ASSIGN_OR_RETURN(L2BallSetting setting, SetUpL2Ball(randomizer, dimension, epsilon, radius));
  double delivered = setting.delivered_epsilon;
  if (randomizer == L2BallRandomizer::kPrivUnit && dimension > 1) {
    const double cost = LatticeCost(setting, dimension);
    if (!(cost < epsilon / 4)) {
      return InvalidField(
          Part::kPrivacy, "epsilon", epsilon,
          fmt::format("one that is neither very small nor very large, or the randomizer duchi: exact "
                      "sampling may cost at most a quarter of epsilon, and here it costs {:.2g}",
                      cost));
    }
    BANDANA_ASSIGN_OR_RETURN(setting, SetUpL2Ball(randomizer, dimension, epsilon - 2 * cost, radius));
    delivered = setting.delivered_epsilon + LatticeCost(setting, dimension);
  }
  BANDANA_CHECK(delivered <= epsilon);
  if (!(setting.cap_mass >= kLeastCap)) {
    return InvalidField(
        Part::kPrivacy, "epsilon", epsilon,
        fmt::format(
            "a smaller one, or the randomizer duchi: a report would draw {:.2g} directions on average",
            1 / setting.cap_mass));
  }
  return ExactL2Ball{setting, delivered};
}

L2BallAxis::L2BallAxis(std::span<const double> vector, double radius) {
  double squares = 0;
  for (const double x : Shortened(vector, radius)) {
    units.push_back(static_cast<std::int64_t>(std::nearbyint(x * kAxisUnits)));
    squares += static_cast<double>(units.back()) * static_cast<double>(units.back());
  }
  length = std::min(std::sqrt(squares) / kAxisUnits, 1.0);
}

bool L2BallAxis::zero() const {
  return std::all_of(units.begin(), units.end(), [](std::int64_t unit) { return unit == 0; });
}

void L2BallAxis::Turn() {
  for (std::int64_t& unit : units) unit = -unit;
}

bool ExactCoin(double p, NoiseGen& noise) { return (noise() >> 2) < static_cast<std::uint64_t>(p * 0x1p62); }

void ExactCapDirection(std::span<const std::int64_t> axis, double gamma, bool inside, std::span<double> unit,
                       NoiseGen& noise) {
  std::vector<std::int64_t> direction(axis.size());
  if (gamma == 0) {
    UniformOnHalfSphere(axis, direction, noise);
    if (!inside) {
      for (std::int64_t& x : direction) x = -x;
    }
  } else {
    const Rational height{.num = static_cast<std::uint64_t>(std::nearbyint(gamma * 0x1p52)),
                          .den = std::uint64_t{1} << 52};
    UniformByCap(axis, height, inside ? CapSide::kInside : CapSide::kOutside, direction, noise);
  }
  ToUnitVector(direction, unit);
}

}  // namespace bandana
