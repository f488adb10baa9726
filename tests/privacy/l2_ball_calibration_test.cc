#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "bandana/core/distributions.h"
#include "bandana/core/status.h"
#include "bandana/privacy/calibration/l2_ball.h"
#include "gtest/gtest.h"
#include "tests/support.h"

namespace bandana {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::string KeyOf(const absl::Status& status) {
  const auto error = InputErrorOf(status);
  return error.has_value() ? error->key : "";
}

L2BallSetting Set(L2BallRandomizer randomizer, std::int64_t d, double epsilon, double radius = 1) {
  return SetUpL2Ball(randomizer, d, epsilon, radius).value();
}

struct Moments {
  double mass;
  double first;
};

// Computes the integrals of sin(a)^(d-2) and of cos(a) sin(a)^(d-2) over angles from `from` to `to`, by
// quadrature in pieces about as narrow as the integrand.
Moments IntegrateAngles(double from, double to, std::int64_t d) {
  using Rule = boost::math::quadrature::gauss_kronrod<double, 31>;
  const int pieces = 8 + static_cast<int>(4 * std::sqrt(static_cast<double>(d)));
  Moments sums = {0, 0};
  for (int i = 0; i < pieces; ++i) {
    const double a = from + (to - from) * i / pieces;
    const double b = from + (to - from) * (i + 1) / pieces;
    const auto density = [&](double angle) { return std::pow(std::sin(angle), static_cast<double>(d - 2)); };
    sums.mass += Rule::integrate(density, a, b, 0);
    sums.first += Rule::integrate([&](double angle) { return std::cos(angle) * density(angle); }, a, b, 0);
  }
  return sums;
}

// Epsilon and the mean of the output along u, computed from p, gamma and scale only.
struct Law {
  double epsilon;
  double mean;
};
Law Integrated(const L2BallSetting& setting, std::int64_t d) {
  const double edge = std::acos(setting.gamma);
  const Moments cap = IntegrateAngles(0, edge, d);
  const Moments rest = IntegrateAngles(edge, std::numbers::pi, d);
  const double inside = setting.p / cap.mass;
  const double outside = (1 - setting.p) / rest.mass;
  return {std::log(inside / outside), setting.scale * (inside * cap.first + outside * rest.first)};
}

TEST(L2BallTest, PrivateAndUnbiasedByIntegration) {
  for (const std::int64_t d : {2, 3, 4, 10, 100, 2000}) {
    for (const double epsilon : {1e-3, 0.1, 1.0, 4.0, 10.0, 20.0}) {
      for (const auto randomizer : {L2BallRandomizer::kDuchi, L2BallRandomizer::kPrivUnit}) {
        const L2BallSetting setting = Set(randomizer, d, epsilon);
        const Law law = Integrated(setting, d);
        EXPECT_NEAR(law.epsilon, epsilon, 1e-9 + 3e-7 * (epsilon > 10)) << d << " " << epsilon;
        EXPECT_LE(law.epsilon, setting.delivered_epsilon + 1e-12) << d << " " << epsilon;
        EXPECT_LE(setting.delivered_epsilon, epsilon) << d << " " << epsilon;
        EXPECT_NEAR(law.mean, 1, 1e-9 / std::min(epsilon, 1.0)) << d << " " << epsilon;
        EXPECT_NEAR(setting.stddev, setting.scale / std::sqrt(static_cast<double>(d)),
                    1e-14 * setting.stddev);
      }
    }
  }
}

using Real = boost::multiprecision::cpp_bin_float_50;

// Computes I_x(p, q) by its series of positive terms, x^p (1-x)^q/(p B(p, q)) sum over n of
// (p+q)...(p+q+n-1)/((p+1)...(p+n)) x^n.
Real IncompleteBeta(const Real& p, const Real& q, const Real& x) {
  Real term = 1;
  Real sum = 1;
  for (int n = 0; term > sum * 1e-25; ++n) {
    term *= (p + q + n) / (p + 1 + n) * x;
    sum += term;
  }
  const Real log_beta = boost::math::lgamma(p) + boost::math::lgamma(q) - boost::math::lgamma(Real(p + q));
  return exp(p * log(x) + q * log(1 - x) - log_beta) * sum / p;
}

// With the mass of the cap to 25 digits, the error in epsilon is well below the margin of the setting.
TEST(L2BallTest, EpsilonIsNotExceededInHighPrecision) {
  for (const std::int64_t d : {2, 5, 101, 10'001, 100'000}) {
    for (const double epsilon : {1e-3, 1.0, 8.0, 20.0}) {
      const L2BallSetting setting = Set(L2BallRandomizer::kPrivUnit, d, epsilon);
      const Real square = Real(setting.gamma) * setting.gamma;
      const Real a = Real(d - 1) / 2;
      const Real half = 0.5;
      const Real mass = (square < half ? Real(1 - IncompleteBeta(half, a, square))
                                       : IncompleteBeta(a, half, Real(1 - square))) /
                        2;
      const Real p = setting.p;
      const Real loss = log(p / (1 - p) * (1 - mass) / mass);
      EXPECT_LE(loss, Real(setting.delivered_epsilon)) << d << " " << epsilon;
      EXPECT_NEAR(static_cast<double>(loss), setting.delivered_epsilon, 1e-11) << d << " " << epsilon;
    }
  }
}

// The variance of a coordinate at d = 100 (Duchi et al. -> PrivUnit): calibration.md has 7.32 -> 6.33 at
// epsilon = 1 and 1.68 -> 0.435 at epsilon = 4.
TEST(L2BallTest, FiguresOfTheSpecification) {
  const L2BallSetting duchi_1 = Set(L2BallRandomizer::kDuchi, 100, 1);
  const L2BallSetting duchi_4 = Set(L2BallRandomizer::kDuchi, 100, 4);
  const L2BallSetting best_1 = Set(L2BallRandomizer::kPrivUnit, 100, 1);
  const L2BallSetting best_4 = Set(L2BallRandomizer::kPrivUnit, 100, 4);
  const auto square = [](double x) { return x * x; };
  EXPECT_NEAR(square(duchi_1.stddev), 7.32, 0.005);
  EXPECT_NEAR(square(best_1.stddev), 6.303, 0.0005);
  EXPECT_NEAR(square(best_1.stddev_at_radius), 6.293, 0.0005);
  EXPECT_NEAR(square(duchi_4.stddev), 1.68, 0.005);
  EXPECT_NEAR(square(best_4.stddev), 0.438, 0.0005);
  EXPECT_NEAR(square(best_4.stddev_at_radius), 0.428, 0.0005);
}

TEST(L2BallTest, DuchisRadius) {
  for (const std::int64_t d : {1, 2, 3, 10, 300}) {
    for (const double epsilon : {0.1, 1.0, 5.0}) {
      const auto real = static_cast<double>(d);
      const double radius = std::sqrt(std::numbers::pi) / 2 * (std::exp(epsilon) + 1) / std::expm1(epsilon) *
                            real * std::exp(std::lgamma((real + 1) / 2) - std::lgamma(real / 2 + 1));
      EXPECT_NEAR(Set(L2BallRandomizer::kDuchi, d, epsilon).scale, radius, 1e-8 * radius)
          << d << " " << epsilon;
    }
  }
}

TEST(L2BallTest, OneDimensionIsRandomizedResponse) {
  for (const auto randomizer : {L2BallRandomizer::kDuchi, L2BallRandomizer::kPrivUnit}) {
    const L2BallSetting setting = Set(randomizer, 1, 1, 3);
    EXPECT_NEAR(setting.p, std::exp(1) / (std::exp(1) + 1), 1e-11);
    EXPECT_NEAR(setting.scale, 1 / std::tanh(0.5), 1e-10);
    EXPECT_NEAR(setting.stddev, 3 / std::tanh(0.5), 1e-9);
  }
}

// No other gamma at the same epsilon gives a shorter output. The test does not use the setting's own formula.
TEST(L2BallTest, GammaIsTheBest) {
  for (const std::int64_t d : {2, 3, 20, 500}) {
    for (const double epsilon : {0.01, 1.0, 6.0, 15.0}) {
      const L2BallSetting best = Set(L2BallRandomizer::kPrivUnit, d, epsilon);
      EXPECT_LE(best.scale, Set(L2BallRandomizer::kDuchi, d, epsilon).scale);
      for (int i = -19; i < 20; ++i) {
        const double gamma = i / 20.0;
        const double edge = std::acos(gamma);
        const Moments cap = IntegrateAngles(0, edge, d);
        const Moments rest = IntegrateAngles(edge, std::numbers::pi, d);
        const double ratio = std::exp(epsilon);
        const double mean = (ratio * cap.first + rest.first) / (ratio * cap.mass + rest.mass);
        EXPECT_LE(mean * best.scale, 1 + 1e-8) << d << " " << epsilon << " " << gamma;
      }
    }
  }
}

TEST(L2BallTest, TheRangeIsCovered) {
  for (const std::int64_t d : {1, 2, 3, 7, 1000, 100'000, 1'000'000}) {
    double last = kInfinity;
    for (const double epsilon : {1e-6, 1e-3, 0.5, 2.0, 8.0, 20.0, 30.0}) {
      const L2BallSetting setting = Set(L2BallRandomizer::kPrivUnit, d, epsilon, 2);
      EXPECT_TRUE(setting.p > 0 && setting.p < 1) << d << " " << epsilon;
      EXPECT_TRUE(setting.gamma >= 0 && setting.gamma < 1) << d << " " << epsilon;
      EXPECT_EQ(setting.p * 0x1p53, std::floor(setting.p * 0x1p53)) << d << " " << epsilon;
      EXPECT_EQ(setting.gamma * 0x1p52, std::floor(setting.gamma * 0x1p52)) << d << " " << epsilon;
      EXPECT_TRUE(setting.scale >= 1 && setting.scale < last) << d << " " << epsilon;
      EXPECT_TRUE(setting.delivered_epsilon <= epsilon) << d << " " << epsilon;
      EXPECT_GT(setting.delivered_epsilon, epsilon * (1 - 1e-4) - 1e-11) << d << " " << epsilon;
      EXPECT_LE(setting.stddev_at_radius, setting.stddev);
      last = setting.scale;
    }
  }
}

TEST(L2BallTest, BadParametersAreRejectedByName) {
  const auto key = [](std::int64_t d, double epsilon, double radius) {
    return KeyOf(SetUpL2Ball(L2BallRandomizer::kPrivUnit, d, epsilon, radius).status());
  };
  for (const std::int64_t d : {0, -1, 1'000'001}) EXPECT_EQ(key(d, 1, 1), "dimension");
  for (const double bad : {0.0, -1.0, 1e-7, 31.0, kInfinity, kNaN, 5e-324}) {
    EXPECT_EQ(key(3, bad, 1), "epsilon") << bad;
  }
  for (const double bad : {0.0, -1.0, kInfinity, kNaN, 5e-324}) EXPECT_EQ(key(3, 1, bad), "radius") << bad;
}

}  // namespace
}  // namespace bandana
