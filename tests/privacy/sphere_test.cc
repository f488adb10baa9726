#include "bandana/privacy/samplers/sphere.h"

#include <boost/math/distributions/beta.hpp>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support.h"

// Seeds are fixed, except where the operating system supplies the bits. Each comparison has a false-alarm
// rate of 1e-6 over seeds, or 1e-9 with the system's bits, and there are about 20. Planted violations must
// fail the same comparisons.
namespace bandana {
namespace {

using test::FitsCdf;
using test::FitsCounts;
using test::Noise;
using Direction = std::vector<std::int64_t>;

constexpr int kDraws = 50'000;

Direction Opposite(Direction direction) {
  for (auto& coordinate : direction) coordinate = -coordinate;
  return direction;
}

std::vector<double> Unit(const Direction& direction) {
  std::vector<double> unit(direction.size());
  ToUnitVector(direction, unit);
  return unit;
}

double Dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

TEST(SphereTest, CoordinatesAreOddAndOfBothSigns) {
  Noise noise(1);
  Direction direction(3);
  std::vector<double> octants(8);
  for (int i = 0; i < kDraws; ++i) {
    UniformDirection(direction, noise.gen);
    int octant = 0;
    for (const std::int64_t x : direction) {
      EXPECT_EQ(x & 1, 1);
      octant = 2 * octant + (x > 0 ? 1 : 0);
    }
    octants[octant] += 1;
  }
  EXPECT_TRUE(FitsCounts(octants, std::vector<double>(8, kDraws / 8.)));
}

// Archimedes: on the sphere in R^3 a coordinate is uniform on (-1, 1), along any axis.
TEST(SphereTest, ACoordinateHasItsLaw) {
  Noise noise(2);
  Direction direction(3);
  const std::vector<double> axis = {2. / 3, -1. / 3, 2. / 3};
  std::vector<double> first(kDraws), along(kDraws), powered(kDraws);
  for (int i = 0; i < kDraws; ++i) {
    UniformDirection(direction, noise.gen);
    first[i] = Unit(direction)[0];
    along[i] = Dot(Unit(direction), axis);
    powered[i] = std::copysign(std::pow(std::abs(along[i]), 1.1), along[i]);
  }
  const auto uniform = [](double x) { return (x + 1) / 2; };
  EXPECT_TRUE(FitsCdf(first, uniform));
  EXPECT_TRUE(FitsCdf(along, uniform));
  EXPECT_FALSE(FitsCdf(powered, uniform));
}

TEST(SphereTest, HasTheLawWithSecureBits) {
  SecureSource source;
  NoiseGen gen = NoiseDoor::Open(source);
  Direction direction(2);
  std::vector<double> angles(kDraws);
  for (double& angle : angles) {
    UniformDirection(direction, gen);
    angle = std::atan2(static_cast<double>(direction[1]), static_cast<double>(direction[0]));
  }
  const auto uniform = [](double x) { return 0.5 + x / (2 * std::numbers::pi); };
  EXPECT_TRUE(FitsCdf(angles, uniform, 1e-9));
}

TEST(SphereTest, InOneDimensionItIsASign) {
  Noise noise(3);
  Direction direction(1);
  double positive = 0;
  for (int i = 0; i < kDraws; ++i) {
    UniformDirection(direction, noise.gen);
    const double unit = Unit(direction)[0];
    EXPECT_EQ(std::abs(unit), 1);
    positive += unit > 0 ? 1 : 0;
  }
  EXPECT_TRUE(FitsCounts(std::vector{positive, kDraws - positive}, std::vector<double>(2, kDraws / 2.)));
}

TEST(HalfSphereTest, HasTheConditionalLaw) {
  Noise noise(4);
  Direction direction(3);
  const Direction axis = {2, -1, 2};
  std::vector<double> along(kDraws), across(kDraws);
  for (int i = 0; i < kDraws; ++i) {
    UniformOnHalfSphere(axis, direction, noise.gen);
    along[i] = Dot(Unit(direction), {2. / 3, -1. / 3, 2. / 3});
    across[i] = Dot(Unit(direction), {2. / 3, 2. / 3, -1. / 3});
    EXPECT_GE(along[i], 0);
  }
  EXPECT_TRUE(FitsCdf(along, [](double x) { return x; }));
  EXPECT_TRUE(FitsCdf(across, [](double x) { return (x + 1) / 2; }));
}

// Equal bits give the same direction or its opposite. For a zero axis a fair coin decides which.
TEST(HalfSphereTest, TiesAreDecidedByAFairCoin) {
  constexpr int kSeeds = 10'000;
  const Direction zero(4);
  double turned = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    Direction base(4), half(4);
    Noise noise(100 + seed), same(100 + seed);
    UniformDirection(base, noise.gen);
    UniformOnHalfSphere(zero, half, same.gen);
    if (half == Opposite(base))
      turned += 1;
    else
      EXPECT_EQ(half, base);
  }
  EXPECT_TRUE(FitsCounts(std::vector{turned, kSeeds - turned}, std::vector<double>(2, kSeeds / 2.)));
}

// The l2-ball mechanism rests on this: with the same bits, opposite axes give opposite directions, also where
// the product has more bits than a double.
TEST(HalfSphereTest, OppositeAxesGiveOppositeDirections) {
  constexpr std::int64_t kMost = (std::int64_t{1} << 52) - 1;
  const Direction axis = {kMost, -kMost, 1, 0, kMost - 1};
  for (int seed = 0; seed < 1000; ++seed) {
    Direction one(5), other(5);
    Noise noise(20'000 + seed), same(20'000 + seed);
    UniformOnHalfSphere(axis, one, noise.gen);
    UniformOnHalfSphere(Opposite(axis), other, same.gen);
    EXPECT_EQ(other, Opposite(one));
  }
}

TEST(CapTest, TheEdgeIsExact) {
  // The cosine of (1, 7) and (1, 1) is 8/(sqrt(50) sqrt(2)) = 4/5.
  constexpr std::uint64_t kFine = std::uint64_t{1} << 60;
  const Direction direction = {1, 7}, axis = {1, 1};
  EXPECT_TRUE(InCap(direction, axis, {4, 5}));
  EXPECT_TRUE(InCap(direction, axis, {4 * (kFine / 5) - 1, 5 * (kFine / 5)}));
  EXPECT_FALSE(InCap(direction, axis, {4 * (kFine / 5) + 1, 5 * (kFine / 5)}));
  EXPECT_TRUE(InCap(direction, direction, {1, 1}));
  EXPECT_FALSE(InCap(direction, axis, {1, 1}));
  EXPECT_FALSE(InCap(direction, Opposite(axis), {0, 1}));
  EXPECT_TRUE(InCap(direction, Direction{7, -1}, {0, 1}));
  EXPECT_FALSE(InCap(direction, Direction{7, -1}, {1, kFine}));
}

TEST(CapTest, TheEdgeIsExactForTheLargestNumbers) {
  constexpr std::int64_t kMost = (std::int64_t{1} << 51) - 1;
  constexpr std::uint64_t kFine = std::uint64_t{1} << 62;
  const Direction direction(1000, kMost);
  Direction axis(1000, 2 * kMost);
  EXPECT_TRUE(InCap(direction, axis, {kFine, kFine}));
  axis[0] -= 1;
  EXPECT_FALSE(InCap(direction, axis, {kFine, kFine}));
}

double CapMass(double dimension, double cosine) {
  return 0.5 * cdf(complement(boost::math::beta_distribution<>(0.5, (dimension - 1) / 2), cosine * cosine));
}

TEST(CapTest, BothSidesHaveTheConditionalLaw) {
  Noise noise(5);
  const Direction axis = {3, 0, -4};
  const std::vector<double> unit = {0.6, 0, -0.8};
  Direction direction(3);
  std::vector<double> inside(10'000), outside(10'000);
  for (double& x : inside) {
    UniformByCap(axis, {3, 4}, CapSide::kInside, direction, noise.gen);
    x = Dot(Unit(direction), unit);
  }
  for (double& x : outside) {
    UniformByCap(axis, {3, 4}, CapSide::kOutside, direction, noise.gen);
    x = Dot(Unit(direction), unit);
  }
  EXPECT_TRUE(FitsCdf(inside, [](double x) { return (x - 0.75) * 4; }));
  EXPECT_TRUE(FitsCdf(outside, [](double x) { return (x + 1) / 1.75; }));
  EXPECT_FALSE(FitsCdf(inside, [](double x) { return (x - 0.7) / 0.3; }));
}

TEST(CapTest, HasItsMass) {
  Noise noise(6);
  for (const int d : {2, 5, 40}) {
    Direction direction(d), axis(d);
    for (int i = 0; i < d; ++i) axis[i] = i % 3 - 1 + (i == 0 ? 5 : 0);
    double inside = 0;
    constexpr int kTries = 10'000;
    for (int i = 0; i < kTries; ++i) {
      UniformDirection(direction, noise.gen);
      inside += InCap(direction, axis, {1, 5}) ? 1 : 0;
    }
    const auto fits = [&](double p) {
      return FitsCounts(std::vector{inside, kTries - inside}, std::vector{p * kTries, (1 - p) * kTries});
    };
    EXPECT_TRUE(fits(CapMass(d, 0.2))) << d;
    EXPECT_FALSE(fits(CapMass(d, 0.1))) << d;
  }
}

TEST(UnitVectorTest, IsOfLengthOneAndOdd) {
  Noise noise(7);
  for (const int d : {1, 2, 10, 1000}) {
    Direction direction(d);
    UniformDirection(direction, noise.gen);
    const std::vector<double> unit = Unit(direction), opposite = Unit(Opposite(direction));
    EXPECT_NEAR(Dot(unit, unit), 1, 1e-14);
    for (int i = 0; i < d; ++i) EXPECT_EQ(unit[i], -opposite[i]);
  }
}

TEST(SphereTest, IsAFunctionOfItsKey) {
  Noise noise(8);
  Direction direction(3);
  UniformDirection(direction, noise.gen);
  EXPECT_THAT(direction, testing::ElementsAre(-242211257443, -1218084563367, 334212573353));
  UniformOnHalfSphere(Direction{1, 2, 3}, direction, noise.gen);
  EXPECT_THAT(direction, testing::ElementsAre(-1638862543397, -59761456163, 1423358920941));
}

TEST(SphereDeathTest, BadArgumentsEndTheProgram) {
  constexpr std::int64_t kTooMuch = std::int64_t{1} << 52;
  Noise noise(9);
  Direction none, two(2), three(3, 1);
  std::vector<double> unit(2);
  EXPECT_DEATH(UniformDirection(none, noise.gen), "d > 0");
  EXPECT_DEATH(UniformOnHalfSphere(three, two, noise.gen), "size");
  EXPECT_DEATH(UniformOnHalfSphere(Direction{0, kTooMuch}, two, noise.gen), "kAxisLimit");
  EXPECT_DEATH(UniformOnHalfSphere(Direction{0, -kTooMuch}, two, noise.gen), "kAxisLimit");
  EXPECT_DEATH(UniformByCap(Direction{0, 0}, {1, 2}, CapSide::kInside, two, noise.gen), "Dot");
  EXPECT_DEATH(UniformByCap(Direction{0, 1}, {3, 2}, CapSide::kInside, two, noise.gen), "cosine.num");
  EXPECT_DEATH(UniformByCap(Direction{0, 1}, {0, 0}, CapSide::kInside, two, noise.gen), "cosine.den");
  EXPECT_DEATH(InCap(Direction{1, kTooMuch / 2}, Direction{0, 1}, {1, 2}), "kDirectionLimit");
  EXPECT_DEATH(ToUnitVector(three, unit), "size");
  EXPECT_DEATH(ToUnitVector(Direction{0, 0}, unit), "norm > 0");
}

}  // namespace
}  // namespace bandana
