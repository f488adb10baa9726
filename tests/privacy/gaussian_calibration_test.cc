#include <algorithm>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <tuple>

#include "bandana/core/status.h"
#include "bandana/privacy/calibration/gaussian.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace bandana {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Computes delta by its definition: the integral of max(0, p - e^epsilon q) for p = N(1, s^2), q = N(0, s^2).
double IntegratedDelta(double epsilon, double s) {
  const auto excess = [&](double x) {
    const double p = std::exp(-0.5 * (x - 1) * (x - 1) / (s * s));
    const double q = std::exp(epsilon - 0.5 * x * x / (s * s));
    return std::max(0.0, p - q) / (s * std::sqrt(2 * std::numbers::pi));
  };
  const double start = s * s * epsilon + 0.5;  // the point where p = e^epsilon q
  double sum = 0;
  for (int i = 0; i < 64; ++i) {
    using Rule = boost::math::quadrature::gauss_kronrod<double, 31>;
    sum += Rule::integrate(excess, start + i * s / 4, start + (i + 1) * s / 4, 0);
  }
  return sum;
}

// Computes Theorem 8 as printed, with enough digits for its cancellation.
double DeltaByHighPrecision(double epsilon, double s) {
  using Real = boost::multiprecision::cpp_bin_float_50;
  const auto cdf = [](const Real& x) { return Real(boost::math::erfc(Real(-x / sqrt(Real(2)))) / 2); };
  const Real half = 1 / (2 * Real(s));
  const Real centre = Real(epsilon) * s;
  return static_cast<double>(Real(cdf(half - centre) - exp(Real(epsilon)) * cdf(-half - centre)));
}

class GaussianCalibration : public testing::TestWithParam<std::tuple<double, double>> {};

TEST_P(GaussianCalibration, TightNoiseDeliversDeltaByIntegration) {
  const auto [epsilon, delta] = GetParam();
  const double s = TightGaussianMultiplier({epsilon, delta}).value();
  EXPECT_NEAR(IntegratedDelta(epsilon, s), delta, 1e-6 * delta);
}

TEST_P(GaussianCalibration, LessNoiseThanTightIsSeen) {
  const auto [epsilon, delta] = GetParam();
  const double s = TightGaussianMultiplier({epsilon, delta}).value();
  EXPECT_GT(IntegratedDelta(epsilon, 0.9999 * s), delta * (1 + 1e-6));
  EXPECT_GT(IntegratedDelta(epsilon, 0.5 * s), delta * 1.5);
}

INSTANTIATE_TEST_SUITE_P(Grid, GaussianCalibration,
                         testing::Combine(testing::Values(0.01, 1, 10), testing::Values(0.1, 1e-6, 1e-12)));

class GaussianAccuracy : public testing::TestWithParam<std::tuple<double, double>> {};

TEST_P(GaussianAccuracy, TightIsTheUpperEndOfATightBracket) {
  const auto [epsilon, delta] = GetParam();
  const double s = TightGaussianMultiplier({epsilon, delta}).value();
  EXPECT_LE(DeltaByHighPrecision(epsilon, s), delta);
  EXPECT_GT(DeltaByHighPrecision(epsilon, s * (1 - 1e-11)), delta);
}

TEST_P(GaussianAccuracy, DeltaHasTwelveDigits) {
  const auto [epsilon, delta] = GetParam();
  for (const double factor : {0.3, 0.9, 1.0, 1.1}) {
    const double s = factor * TightGaussianMultiplier({epsilon, delta}).value();
    const double expected = DeltaByHighPrecision(epsilon, s);
    EXPECT_NEAR(GaussianDelta(epsilon, s), expected, 1e-12 * expected) << s;
  }
}

TEST_P(GaussianAccuracy, EpsilonInvertsDelta) {
  const auto [epsilon, delta] = GetParam();
  const double s = TightGaussianMultiplier({epsilon, delta}).value();
  const double delivered = GaussianEpsilon(delta, s);
  EXPECT_NEAR(delivered, epsilon, 1e-11 * epsilon + 1e-12);
  EXPECT_LE(DeltaByHighPrecision(delivered, s), delta);
}

INSTANTIATE_TEST_SUITE_P(Grid, GaussianAccuracy,
                         testing::Combine(testing::Values(1e-3, 0.1, 1, 8, 100, 1000),
                                          testing::Values(0.5, 0.01, 1e-6, 1e-10, 1e-15)));

TEST(GaussianTest, KnownFigures) {
  EXPECT_NEAR(TightGaussianMultiplier({1, 1e-6}).value(), 4.2248, 2e-4);
  EXPECT_NEAR(ClassicGaussianMultiplier({1, 1e-6}).value(), 5.299, 1e-3);
  EXPECT_NEAR(GaussianDelta(10, ClassicGaussianMultiplier({10, 0.1}).value()), 0.406, 1e-3);
  EXPECT_GT(GaussianEpsilon(0.1, ClassicGaussianMultiplier({10, 0.1}).value()), 10);
}

// At epsilon = 0, delta is the total variation distance 2 Phi(1/(2 s)) - 1.
TEST(GaussianTest, DeltaAtZeroIsTheTotalVariation) {
  for (const double s : {0.01, 0.5, 1.0, 30.0, 1e6, 1e100}) {
    const double expected = std::erf(0.5 / s / std::numbers::sqrt2);
    EXPECT_NEAR(GaussianDelta(0, s), expected, 1e-12 * expected) << s;
  }
}

RC_GTEST_PROP(GaussianTest, DeltaFallsWithEpsilonAndNoise, ()) {
  const auto uniform = [](double low, double high) {
    return low + (high - low) * (*rc::gen::inRange(0, 1'000'000)) / 1e6;
  };
  const double epsilon = std::exp(uniform(-7, 5));
  const double s = std::exp(uniform(-4, 8));
  const double more = 1 + std::exp(uniform(-12, 1));
  constexpr double kRounding = 1 + 2e-12;
  const double delta = GaussianDelta(epsilon, s);
  RC_ASSERT(delta >= 0 && delta <= 1);
  RC_ASSERT(GaussianDelta(epsilon * more, s) <= delta * kRounding);
  RC_ASSERT(GaussianDelta(epsilon, s * more) <= delta * kRounding);
}

TEST(GaussianTest, ExtremesAreAnswered) {
  EXPECT_EQ(GaussianDelta(1, 0), 1);
  EXPECT_EQ(GaussianDelta(1, kInfinity), 0);
  EXPECT_EQ(GaussianDelta(0, kInfinity), 0);
  EXPECT_EQ(GaussianDelta(kInfinity, 1), 0);
  EXPECT_EQ(GaussianDelta(1, 1e-310), 1);
  EXPECT_GT(GaussianDelta(100, 1), 0) << "a delta that is too small for a double is not 0";
  EXPECT_EQ(GaussianEpsilon(1e-6, 0), kInfinity);
  EXPECT_EQ(GaussianEpsilon(0, 1), kInfinity);
  EXPECT_EQ(GaussianEpsilon(1e-6, 1e-200), kInfinity);
  EXPECT_EQ(GaussianEpsilon(1e-6, kInfinity), 0);
  EXPECT_EQ(GaussianEpsilon(1e-6, 1e9), 0);
  EXPECT_EQ(GaussianEpsilon(1, 1e-3), 0);
  for (const DpGuarantee guarantee :
       {DpGuarantee{1e-300, 1e-300}, {1e6, 1e-300}, {1e300, 0.5}, {1e-3, 0.9999999999999999}}) {
    const auto s = TightGaussianMultiplier(guarantee);
    ASSERT_TRUE(s.ok()) << s.status();
    EXPECT_TRUE(*s > 0 && std::isfinite(*s));
    EXPECT_LE(GaussianDelta(guarantee.epsilon, *s), guarantee.delta);
  }
  EXPECT_FALSE(TightGaussianMultiplier({5e-324, 5e-324}).ok());
}

void ExpectRejected(DpGuarantee guarantee, const std::string& key, const std::string& accepted) {
  for (const auto& result : {TightGaussianMultiplier(guarantee), ClassicGaussianMultiplier(guarantee)}) {
    const auto error = InputErrorOf(result.status());
    ASSERT_TRUE(error.has_value()) << result.status();
    EXPECT_EQ(error->key, key);
    EXPECT_EQ(error->accepted, accepted);
  }
}

TEST(GaussianTest, BadParametersAreRejectedByName) {
  for (const double epsilon : {0.0, -1.0, kInfinity, kNaN}) {
    ExpectRejected({epsilon, 1e-6}, "epsilon", "a finite number > 0");
  }
  for (const double delta : {0.0, 1.0, -0.1, kInfinity, kNaN}) {
    ExpectRejected({1, delta}, "delta", "a number in (0, 1)");
  }
}

TEST(GaussianDeathTest, NaNEndsTheProgram) {
  EXPECT_DEATH(GaussianDelta(kNaN, 1), "epsilon >= 0");
  EXPECT_DEATH(GaussianDelta(1, kNaN), "noise_multiplier >= 0");
  EXPECT_DEATH(GaussianEpsilon(kNaN, 1), "delta >= 0");
}

}  // namespace
}  // namespace bandana
