#include "bandana/audit/distinguisher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "bandana/core/distributions.h"
#include "tests/support.h"

namespace bandana::audit {
namespace {

TEST(LowestBitTest, KnownValues) {
  EXPECT_EQ(LowestBit(1), 0);
  EXPECT_EQ(LowestBit(-12), 2);
  EXPECT_EQ(LowestBit(0.75), -2);
  EXPECT_EQ(LowestBit(1 + std::numeric_limits<double>::epsilon()), -52);
  EXPECT_EQ(LowestBit(std::numeric_limits<double>::denorm_min()), -1074);
  EXPECT_EQ(LowestBit(0), LowestBit(-0.0));
  EXPECT_LT(LowestBit(0), -1074);
  EXPECT_GT(LowestBit(std::nan("")), 1024);
}

RC_GTEST_PROP(LowestBitTest, IsTheExponentOfAnOddNumber, (std::int32_t odd, bool negative)) {
  const double x = std::abs(static_cast<double>(odd)) * 2 + 1;
  const int exponent = *rc::gen::inRange(-1000, 900);
  RC_ASSERT(LowestBit(std::ldexp(negative ? -x : x, exponent)) == exponent);
}

TEST(LaplaceLogRatioTest, IsTheRatioOfDensities) {
  const std::vector<double> a = {0, 1}, b = {2, 0.5};
  const auto ratio = LaplaceLogRatio(a, b, 1.5);
  const auto log_density = [](double x, double centre) { return -std::abs(x - centre) / 1.5; };
  for (const double x : {-3.0, 0.4, 1.9, 5.0}) {
    for (const double y : {-1.0, 0.7, 3.0}) {
      const std::vector<double> view = {x, y};
      const double wanted =
          log_density(x, b[0]) + log_density(y, b[1]) - log_density(x, a[0]) - log_density(y, a[1]);
      EXPECT_NEAR(ratio(view), wanted, 1e-12);
    }
  }
}

// Only the second coordinate differs, and no threshold separates it: the first neighbour is in the middle,
// the second at both ends.
Training MiddleAgainstEnds(std::size_t size) {
  Training training{Sample(2, size), Sample(2, size)};
  test::Coins coins(5);
  for (std::size_t i = 0; i < size; ++i) {
    for (Sample* sample : {&training.first, &training.second}) (*sample)[i][0] = UniformUnit(coins.gen);
    training.first[i][1] = StandardNormal(coins.gen);
    training.second[i][1] = StandardNormal(coins.gen) + (UniformUnit(coins.gen) < 0.5 ? -5 : 5);
  }
  return training;
}

const Distinguisher& Named(const std::vector<Distinguisher>& all, const std::string& name) {
  for (const Distinguisher& one : all) {
    if (one.name == name) return one;
  }
  ADD_FAILURE() << name;
  return all.front();
}

TEST(DistinguisherTest, AHistogramLearnsWhatNoProjectionSees) {
  const Target target{.name = "", .claim = {}, .dimension = 2, .draw = {}};
  const auto all = LearnDistinguishers(target, MiddleAgainstEnds(20'000));
  const auto score = [&](const std::string& name, double x, double y) {
    const std::vector<double> view = {x, y};
    return Named(all, name).score(view);
  };
  for (const std::string name : {"histogram of coordinate 1", "histograms of all coordinates"}) {
    EXPECT_LT(score(name, 0.5, 0), -2);
    EXPECT_GT(score(name, 0.5, 5), 2);
    EXPECT_GT(score(name, 0.5, -5), 2);
  }
  EXPECT_NEAR(score("histogram of coordinate 0", 0.5, 5), 0, 0.7);
  EXPECT_LT(std::abs(score("projection", 0.5, 5) - score("projection", 0.5, -5)), 1);
}

TEST(DistinguisherTest, ADirectionIsLearnedUnlessItIsKnown) {
  Training training{Sample(2, 10'000), Sample(2, 10'000)};
  test::Coins coins(6);
  for (std::size_t i = 0; i < 10'000; ++i) {
    for (std::size_t j = 0; j < 2; ++j) {
      training.first[i][j] = StandardNormal(coins.gen);
      training.second[i][j] = StandardNormal(coins.gen) + (j == 1 ? 1 : 0);
    }
  }
  Target target{.name = "", .claim = {}, .dimension = 2, .draw = {}};
  const auto project = [&](double x, double y) {
    const std::vector<double> view = {x, y};
    return Named(LearnDistinguishers(target, training), "projection").score(view);
  };
  EXPECT_LT(std::abs(project(1, 0)), 0.1 * project(0, 1));
  target.direction = {3, 4};
  EXPECT_DOUBLE_EQ(project(1, 0), 3);
  EXPECT_DOUBLE_EQ(project(0, 1), 4);
}

// With few values, each value is a cell of its own, also one that training has not seen.
TEST(DistinguisherTest, DiscreteValuesHaveTheirOwnCells) {
  Training training{Sample(1, 1000), Sample(1, 1000)};
  for (std::size_t i = 0; i < 1000; ++i) {
    training.first[i][0] = i < 900 ? 7 : 8;
    training.second[i][0] = i < 100 ? 7 : 8;
  }
  const Target target{.name = "", .claim = {}, .dimension = 1, .draw = {}};
  const auto all = LearnDistinguishers(target, training);
  const auto score = [&](double x) {
    return Named(all, "histogram of coordinate 0").score(std::span(&x, 1));
  };
  EXPECT_NEAR(score(7), -std::log(901.0 / 101), 1e-12);
  EXPECT_NEAR(score(8), std::log(901.0 / 101), 1e-12);
  EXPECT_EQ(score(0), 0);
}

}  // namespace
}  // namespace bandana::audit
