#include "bandana/core/lane_draws.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <numbers>
#include <vector>

#include "tests/support.h"

// Each Kolmogorov-Smirnov test has a false-alarm rate of 1e-6.
namespace bandana {
namespace {

constexpr std::size_t kDraws = 20'003;  // not a multiple of any lane count

StreamKey Key(std::uint64_t seed) { return test::TestKey(seed); }

/// Returns whether the sample passes the Kolmogorov-Smirnov test against `cdf`.
template <class Cdf>
bool Follows(std::vector<double> sample, Cdf cdf) {
  std::sort(sample.begin(), sample.end());
  const auto n = static_cast<double>(sample.size());
  double farthest = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double p = cdf(sample[i]);
    farthest = std::max(
        {farthest, std::abs(p - static_cast<double>(i) / n), std::abs(p - static_cast<double>(i + 1) / n)});
  }
  return farthest <= std::sqrt(std::log(2 / 1e-6) / (2 * n));
}

double Angle(double x, double y) { return std::atan2(y, x) / (2 * std::numbers::pi) + 0.5; }

TEST(LaneDrawsTest, CircleIsUniform) {
  LaneDraws draws(Key(1));
  std::vector<double> x(kDraws), y(kDraws), turns;
  draws.Circle(0.5, x, y);
  for (std::size_t i = 0; i < kDraws; ++i) {
    EXPECT_NEAR(std::hypot(x[i], y[i]), 0.5, 3e-16);
    turns.push_back(Angle(x[i], y[i]));
  }
  EXPECT_TRUE(Follows(turns, [](double u) { return u; }));
}

TEST(LaneDrawsTest, PlaneHasTheSpheresLaw) {
  for (const int d : {3, 4, 7, 20, 1000}) {
    LaneDraws draws(Key(static_cast<std::uint64_t>(d)));
    std::vector<double> x(kDraws), y(kDraws), squares, turns;
    draws.SpherePlane(d, 1, x, y);
    for (std::size_t i = 0; i < kDraws; ++i) {
      squares.push_back(x[i] * x[i] + y[i] * y[i]);
      ASSERT_LE(squares.back(), 1 + 1e-15);
      turns.push_back(Angle(x[i], y[i]));
    }
    EXPECT_TRUE(Follows(squares, [&](double h) { return 1 - std::pow(1 - std::min(h, 1.0), (d - 2) / 2.); }))
        << d;
    EXPECT_TRUE(Follows(turns, [](double u) { return u; })) << d;
    // The square of a coordinate has the law Beta(1/2, (d - 1) / 2).
    const boost::math::beta_distribution<double> coordinate(0.5, (d - 1) / 2.);
    std::vector<double> own;
    for (const double u : y) own.push_back(u * u);
    EXPECT_TRUE(Follows(own, [&](double h) { return cdf(coordinate, std::min(h, 1.0)); })) << d;
  }
}

TEST(LaneDrawsTest, NormalsAreNormal) {
  const boost::math::normal law(0, 3);
  LaneDraws draws(Key(3));
  std::vector<double> x(kDraws), y(kDraws);
  draws.Normals(3, x, y);
  EXPECT_TRUE(Follows(x, [&](double z) { return cdf(law, z); }));
  EXPECT_TRUE(Follows(y, [&](double z) { return cdf(law, z); }));
  draws.Normals(3, x);
  EXPECT_TRUE(Follows(x, [&](double z) { return cdf(law, z); }));
  double products = 0;  // neighbours and pairs are uncorrelated, within 5 standard deviations
  for (std::size_t i = 4; i < kDraws; ++i) products += x[i] * x[i - 4] / 9;
  EXPECT_LE(std::abs(products), 5 * std::sqrt(kDraws));
  EXPECT_FALSE(Follows(x, [&](double z) { return cdf(law, z * 1.15); })) << "the test sees nothing";
}

TEST(LaneDrawsTest, ShortSpansAreFilled) {
  for (std::size_t size = 0; size < 20; ++size) {
    LaneDraws draws(Key(4));
    std::vector<double> x(size + 1, 7), y(size + 1, 7);
    draws.Normals(1, std::span(x).first(size));
    draws.Circle(1, std::span(x).first(size), std::span(y).first(size));
    for (std::size_t i = 0; i < size; ++i) EXPECT_TRUE(x[i] != 7 && y[i] != 7);
    EXPECT_TRUE(x[size] == 7 && y[size] == 7);
  }
}

TEST(LaneDrawsTest, UniformIsInside) {
  LaneDraws draws(Key(5));
  std::vector<double> sample(kDraws);
  for (double& u : sample) {
    u = draws.Uniform();
    ASSERT_TRUE(u > 0 && u < 1);
  }
  EXPECT_TRUE(Follows(sample, [](double u) { return u; }));
}

TEST(LaneDrawsTest, KeysAreStreams) {
  LaneDraws a(Key(6)), b(Key(6)), c(Key(7));
  const double first = a.Uniform();
  EXPECT_EQ(first, b.Uniform());
  EXPECT_NE(first, c.Uniform());
}

}  // namespace
}  // namespace bandana
