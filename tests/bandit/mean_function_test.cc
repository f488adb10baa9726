#include "bandana/bandit/mean_function.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <boost/math/distributions/poisson.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "bandana/core/status.h"

namespace bandana {
namespace {

MeanFunction Mean(Link link, Count bound = 0) {
  auto mean = MeanFunction::Create(link, bound);
  EXPECT_TRUE(mean.ok()) << mean.status();
  return *mean;
}

std::vector<MeanFunction> All() {
  return {Mean(Link::kIdentity),   Mean(Link::kLogistic),   Mean(Link::kProbit),      Mean(Link::kPoisson, 1),
          Mean(Link::kPoisson, 2), Mean(Link::kPoisson, 5), Mean(Link::kPoisson, 100)};
}

TEST(MeanFunctionTest, BoundIsForCountsAlone) {
  const auto key = [](Link link, Count bound) {
    const auto error = InputErrorOf(MeanFunction::Create(link, bound).status());
    return error.has_value() ? error->key : "";
  };
  EXPECT_EQ(key(Link::kPoisson, 0), "reward_bound");
  EXPECT_EQ(key(Link::kPoisson, -1), "reward_bound");
  EXPECT_EQ(key(Link::kPoisson, 101), "reward_bound");
  EXPECT_EQ(key(Link::kPoisson, 100), "");
  for (const Link link : {Link::kIdentity, Link::kLogistic, Link::kProbit}) {
    EXPECT_EQ(key(link, 0), "");
    EXPECT_EQ(key(link, 1), "reward_bound");
  }
  EXPECT_DEATH(MeanFunction(Link::kPoisson), "check failed");
}

TEST(MeanFunctionTest, AgreesWithTheLink) {
  for (const Link link : {Link::kIdentity, Link::kLogistic, Link::kProbit}) {
    for (double s = -4; s <= 4; s += 0.25) EXPECT_DOUBLE_EQ(Mean(link)(s), MeanOf(link, s));
  }
}

// Compares with sum_{j=1}^B P(N >= j), computed in 50 digits.
TEST(MeanFunctionTest, PoissonIsTheMeanOfTheSmaller) {
  using Real = boost::multiprecision::cpp_bin_float_50;
  for (const int bound : {1, 2, 3, 8, 40, 100}) {
    const MeanFunction mean = Mean(Link::kPoisson, bound);
    for (double s = -20; s <= 7; s += 0.5) {
      const Real l = exp(Real(s));
      Real mass = exp(-l), below = 0, expected = 0;
      for (int j = 0; j < bound; ++j) {
        below += mass;
        expected += 1 - below;
        mass *= l / (j + 1);
      }
      EXPECT_NEAR(mean(s), static_cast<double>(expected), 4e-14 * bound) << bound << " " << s;
      EXPECT_NEAR(mean.Slope(s), static_cast<double>(l * below),
                  1e-12 * (1 + static_cast<double>(l * below)));
    }
  }
  EXPECT_NEAR(Mean(Link::kPoisson, 1)(0), 1 - std::exp(-1), 1e-15);
}

TEST(MeanFunctionTest, StaysWithinItsBoundsFarOut) {
  for (const Count bound : {1, 7, 100}) {
    const MeanFunction mean = Mean(Link::kPoisson, bound);
    for (const double s : {-1e308, -800., -50., 7., 50., 700., 710., 1e308}) {
      EXPECT_GE(mean(s), 0);
      EXPECT_LE(mean(s), static_cast<double>(bound));
      EXPECT_GE(mean.Slope(s), 0);
    }
    EXPECT_EQ(mean(50), static_cast<double>(bound));
  }
}

RC_GTEST_PROP(MeanFunctionTest, IncreasesWithItsSlope, ()) {
  const auto all = All();
  const MeanFunction mean = all[*rc::gen::inRange<std::size_t>(0, all.size())];
  const double s = *rc::gen::inRange(-3000, 3000) / 1000.;
  constexpr double kStep = 1e-5;
  RC_ASSERT(mean(s + kStep) >= mean(s));
  const double secant = (mean(s + kStep) - mean(s - kStep)) / (2 * kStep);
  RC_ASSERT(std::abs(secant - mean.Slope(s)) <= 1e-7 * (1 + mean.Slope(s)));
}

RC_GTEST_PROP(MeanFunctionTest, NoSlopeInTheBallIsSmallerThanSaid, ()) {
  const auto all = All();
  const MeanFunction mean = all[*rc::gen::inRange<std::size_t>(0, all.size())];
  const double radius = *rc::gen::inRange(0, 4000) / 1000.;
  const double s = radius * *rc::gen::inRange(-1000, 1001) / 1000.;
  RC_ASSERT(mean.SmallestSlope(radius) <= mean.Slope(s) * (1 + 1e-12));
  RC_ASSERT(mean.Range(radius).low <= mean(s) && mean(s) <= mean.Range(radius).high);
}

TEST(MeanFunctionTest, SmallestSlopesAreKnown) {
  EXPECT_EQ(Mean(Link::kIdentity).SmallestSlope(3), 1);
  EXPECT_NEAR(Mean(Link::kLogistic).SmallestSlope(1), 0.19661193324148185, 1e-15);
  EXPECT_NEAR(Mean(Link::kProbit).SmallestSlope(1), 0.24197072451914337, 1e-15);
  // With B = 1 the slope is l exp(-l), which is smaller at l = e than at 1/e.
  EXPECT_NEAR(Mean(Link::kPoisson, 1).SmallestSlope(1), std::exp(1 - std::exp(1)), 1e-15);
}

}  // namespace
}  // namespace bandana
