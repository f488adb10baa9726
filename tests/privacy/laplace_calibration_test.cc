#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "bandana/core/status.h"
#include "bandana/privacy/calibration/laplace.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace bandana {
namespace {

using Rational = boost::multiprecision::cpp_rational;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::string KeyOf(const absl::Status& status) {
  const auto error = InputErrorOf(status);
  return error.has_value() ? error->key : "";
}

double Uniform(double low, double high) {
  return low + (high - low) * (*rc::gen::inRange(0, 1'000'000)) / 1e6;
}

TEST(LaplaceTest, TightIsRangeOverEpsilon) {
  const LaplaceSetting setting = TightLaplace(0.5, 2).value();
  EXPECT_EQ(setting.scale, 4);
  EXPECT_EQ(setting.delivered_epsilon, 0.5);
  EXPECT_NEAR(setting.stddev, std::sqrt(2 * 16.0), 1e-14);
}

TEST(LaplaceTest, PaperDeliversTwiceWhatItSays) {
  const LaplaceSetting setting = PaperLaplace(1, 2).value();  // the range is 2, since |r| <= 1
  EXPECT_EQ(setting.scale, 1);
  EXPECT_EQ(setting.delivered_epsilon, 2);
}

RC_GTEST_PROP(LaplaceTest, TightNeverRoundsDown, ()) {
  const double epsilon = std::exp(Uniform(-20, 20));
  const double sensitivity = std::exp(Uniform(-20, 20));
  const LaplaceSetting setting = TightLaplace(epsilon, sensitivity).value();
  RC_ASSERT(Rational(setting.scale) * Rational(epsilon) >= Rational(sensitivity));
  RC_ASSERT(Rational(setting.scale) * Rational(setting.delivered_epsilon) >= Rational(sensitivity));
  RC_ASSERT(setting.delivered_epsilon <= epsilon);
  RC_ASSERT(setting.scale <= sensitivity / epsilon * (1 + 1e-15));
}

RC_GTEST_PROP(LaplaceTest, DiscreteNeverRoundsDown, ()) {
  const double epsilon = std::exp(Uniform(-12, 6));
  const auto units = static_cast<std::uint64_t>(std::exp(Uniform(0, 24)));
  const DiscreteLaplaceSetting setting = TightDiscreteLaplace(epsilon, units).value();
  const Rational t = Rational(setting.numerator) / Rational(setting.denominator);
  RC_ASSERT(t * Rational(epsilon) >= Rational(units));
  RC_ASSERT(Rational(setting.delivered_epsilon) * t >= Rational(units));
  RC_ASSERT(setting.delivered_epsilon <= epsilon);
  if (epsilon <= static_cast<double>(units)) {
    RC_ASSERT(t * Rational(epsilon) <= Rational(units) * Rational(1 + 0x1p-31));
  }
}

TEST(LaplaceTest, DiscreteDeviationByEnumeration) {
  for (const double epsilon : {0.05, 1.0, 7.0}) {
    const DiscreteLaplaceSetting setting = TightDiscreteLaplace(epsilon, 2).value();
    const double t = static_cast<double>(setting.numerator) / static_cast<double>(setting.denominator);
    double mass = 1;
    double squares = 0;
    for (int k = 1; k < 4000; ++k) {
      mass += 2 * std::exp(-k / t);
      squares += 2.0 * k * k * std::exp(-k / t);
    }
    EXPECT_NEAR(setting.stddev, std::sqrt(squares / mass), 1e-12 * setting.stddev) << epsilon;
  }
}

TEST(LaplaceTest, SimpleScalesStaySimple) {
  const DiscreteLaplaceSetting setting = TightDiscreteLaplace(0.25, 3).value();
  EXPECT_EQ(setting.numerator, 12U);
  EXPECT_EQ(setting.denominator, 1U);
  EXPECT_EQ(setting.delivered_epsilon, 0.25);
}

TEST(LaplaceTest, ScalesBeyondTheGridAreRefused) {
  EXPECT_EQ(KeyOf(TightDiscreteLaplace(1e-3, std::uint64_t{1} << 50).status()), "epsilon");
  EXPECT_TRUE(TightDiscreteLaplace(2, std::uint64_t{1} << 52).ok());
  EXPECT_EQ(KeyOf(TightDiscreteLaplace(1, std::uint64_t{1} << 52).status()), "epsilon");
  EXPECT_EQ(KeyOf(TightDiscreteLaplace(2, (std::uint64_t{1} << 52) + 1).status()), "sensitivity");
  EXPECT_EQ(KeyOf(TightDiscreteLaplace(1, 0).status()), "sensitivity");
}

TEST(LaplaceTest, BadParametersAreRejectedByName) {
  for (const double bad : {0.0, -1.0, kInfinity, -kInfinity, kNaN, 5e-324, 1e-310}) {
    EXPECT_EQ(KeyOf(TightLaplace(bad, 1).status()), "epsilon") << bad;
    EXPECT_EQ(KeyOf(TightLaplace(1, bad).status()), "sensitivity") << bad;
    EXPECT_EQ(KeyOf(PaperLaplace(bad, 1).status()), "epsilon") << bad;
    EXPECT_EQ(KeyOf(PaperLaplace(1, bad).status()), "range") << bad;
    EXPECT_EQ(KeyOf(TightDiscreteLaplace(bad, 1).status()), "epsilon") << bad;
  }
}

}  // namespace
}  // namespace bandana
