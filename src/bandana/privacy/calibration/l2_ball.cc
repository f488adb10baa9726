#include "bandana/privacy/calibration/l2_ball.h"

#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <numbers>

#include "bandana/core/status.h"
#include "bandana/privacy/calibration/rounding.h"
#include "fmt/format.h"

namespace bandana {
namespace {

constexpr std::int64_t kMostDimensions = 1'000'000;
constexpr double kLeastEpsilon = 1e-6;
constexpr double kMostBallEpsilon = 30;  // above this, 1 - p has too few digits

// gamma and p are multiples of these units, so that an exact sampler can use them.
constexpr double kGammaUnit = 0x1p-52;
constexpr double kProbabilityUnit = 0x1p-53;

// Exceeds the error in epsilon that the cap's mass causes, which is about 1e-12.
constexpr double kMassGuard = 1e-11;

double FloorTo(double unit, double x) { return std::floor(x / unit) * unit; }

// The cap {v : <u, v> >= gamma} of the unit sphere, gamma in [0, 1).
struct Cap {
  double mass;    // its share of the sphere
  double moment;  // the mean over the sphere of <u, v> if v is in the cap, and 0 otherwise
};

// With d >= 2, T = <u, v> has density (1 - t^2)^((d-3)/2)/B(1/2, (d-1)/2).
Cap CapAbove(double gamma, std::int64_t dimension) {
  if (dimension == 1) return {0.5, 0.5};
  const double a = static_cast<double>(dimension - 1) / 2;
  const double square = gamma * gamma;
  const double rest = (1 - gamma) * (1 + gamma);  // keeps its digits where gamma is close to 1
  const double tail = square < 0.5 ? boost::math::ibetac(0.5, a, square) : boost::math::ibeta(a, 0.5, rest);
  const double log_rest = square < 0.5 ? std::log1p(-square) : std::log(rest);
  const double beta = std::sqrt(std::numbers::pi) * boost::math::tgamma_delta_ratio(a, 0.5);
  return {tail / 2, std::exp(a * log_rest) / (2 * a * beta)};
}

// The output's length is radius/m with m = E M/(1 + E r), E = e^epsilon - 1, for a cap of mass r and moment
// M. It is least where gamma (1 + E r) = E M. There is one root, since the difference increases with gamma.
double BestGamma(double epsilon, std::int64_t dimension) {
  const double growth = std::expm1(epsilon);
  double low = 0;
  double high = 1;
  while (true) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return low;
    const Cap cap = CapAbove(middle, dimension);
    (middle * (1 + growth * cap.mass) < growth * cap.moment ? low : high) = middle;
  }
}

// Returns ln of the cap's density divided by that of the rest.
double Epsilon(double p, double mass) {
  return std::log(p) - std::log1p(-p) + std::log1p(-mass) - std::log(mass) + kMassGuard / 2;
}

}  // namespace

absl::StatusOr<L2BallSetting> SetUpL2Ball(L2BallRandomizer randomizer, std::int64_t dimension, double epsilon,
                                          double radius) {
  if (!(dimension >= 1 && dimension <= kMostDimensions)) {
    return InvalidOption("dimension", fmt::format("{}", dimension),
                         fmt::format("a whole number from 1 to {}", kMostDimensions));
  }
  if (!(epsilon >= kLeastEpsilon && epsilon <= kMostBallEpsilon)) {
    return InvalidField(Part::kPrivacy, "epsilon", epsilon,
                        fmt::format("a number from {} to {}", kLeastEpsilon, kMostBallEpsilon));
  }
  BANDANA_RETURN_IF_ERROR(calibration::CheckPositive("radius", radius));
  const bool half = randomizer == L2BallRandomizer::kDuchi || dimension == 1;
  const double gamma = half ? 0 : FloorTo(kGammaUnit, BestGamma(epsilon, dimension));
  const auto [mass, moment] = CapAbove(gamma, dimension);
  const double target = epsilon - kMassGuard;
  double p = FloorTo(kProbabilityUnit, std::exp(target) * mass / (1 + std::expm1(target) * mass));
  while (Epsilon(p, mass) > epsilon) p -= kProbabilityUnit;
  const double scale = 1 / (moment * (p / mass - (1 - p) / (1 - mass)));
  const double width = radius / std::sqrt(static_cast<double>(dimension));
  return L2BallSetting{.p = p,
                       .gamma = gamma,
                       .cap_mass = mass,
                       .scale = scale,
                       .stddev = width * scale,
                       .stddev_at_radius = width * std::sqrt((scale - 1) * (scale + 1)),
                       .delivered_epsilon = Epsilon(p, mass)};
}

}  // namespace bandana
