#include "bandana/algorithms/chernoff.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "bandana/core/distributions.h"
#include "tests/support.h"

namespace bandana {
namespace {

// Returns the bound for an error whose parts except the Laplace terms are one sub-Gaussian part.
double ChernoffBound(double squared_proxy, std::span<const double> weights, std::span<const NoiseLaw> laws,
                     double level) {
  for (std::size_t i = 0; i < std::min(weights.size(), laws.size()); ++i) {
    squared_proxy += weights[i] * weights[i] * laws[i].proxy * laws[i].proxy;
  }
  return TailBound({.sub_gaussian = squared_proxy, .weights = weights, .laws = laws}, level);
}

// Returns the best of Chernoff's bounds over a fine grid of exponents, computed from the laws' own moments.
double ByGrid(double squared_proxy, const std::vector<double>& weights, const std::vector<NoiseLaw>& laws,
              double level) {
  double best = std::numeric_limits<double>::infinity();
  for (double log_t = -60; log_t < 60; log_t += 1e-3) {
    const double t = std::exp(log_t);
    double moment = t * t * squared_proxy / 2;
    for (std::size_t i = 0; i < laws.size(); ++i) moment += laws[i].LogMoment(t * weights[i]);
    best = std::min(best, (moment + std::log(1 / level)) / t);
  }
  return best;
}

TEST(ChernoffTest, GaussianNoiseHasTheKnownBound) {
  const std::vector<double> weights = {1, -2};
  const std::vector<NoiseLaw> laws = {{.proxy = 3}, {.proxy = 0.5}};
  EXPECT_NEAR(ChernoffBound(2, weights, laws, 0.01), std::sqrt(2 * std::log(100) * (2 + 9 + 1)), 1e-12);
  EXPECT_EQ(ChernoffBound(0, weights, std::vector<NoiseLaw>(2), 0.01), 0);
  EXPECT_EQ(ChernoffBound(0, {}, {}, 0.5), 0);
}

TEST(ChernoffTest, IsNearTheBestOfItsKind) {
  struct Case {
    double squared_proxy;
    std::vector<double> weights;
    std::vector<NoiseLaw> laws;
  };
  const std::vector<Case> cases = {
      {0, {1}, {{.laplace_scale = 1, .laplace_terms = 1}}},
      {1, {1}, {{.laplace_scale = 1, .laplace_terms = 1}}},
      {0, {1, 0.1}, {{.laplace_scale = 1, .laplace_terms = 1}, {.laplace_scale = 1, .laplace_terms = 1000}}},
      {0, {1}, {{.laplace_scale = 1e-3, .laplace_terms = 1'000'000}}},
      {4, {1, -3, 0}, {{.proxy = 1, .laplace_scale = 2, .laplace_terms = 5}, {}, {.laplace_scale = 9}}},
      // Laplace noise is almost 0 here, so the width is that of the Gaussian part.
      {1, {1}, {{.laplace_scale = 1e-9, .laplace_terms = 1}}},
      {1, {1}, {{.laplace_scale = 1e-6, .laplace_terms = 100}}},
  };
  for (const Case& c : cases) {
    for (const double level : {0.5, 1e-2, 1e-9}) {
      const double bound = ChernoffBound(c.squared_proxy, c.weights, c.laws, level);
      const double best = ByGrid(c.squared_proxy, c.weights, c.laws, level);
      EXPECT_GE(bound, best * (1 - 1e-6));
      EXPECT_LE(bound, best * (1 + 1e-3)) << level;
    }
  }
}

// The bound holds for every exponent. So scaling all noise scales the bound, and more noise never lowers it.
RC_GTEST_PROP(ChernoffTest, ScalesAndGrowsWithTheNoise, ()) {
  const auto number = [] { return *rc::gen::inRange(1, 1'000'000) / 1e5; };
  const double proxy = number();
  const double level = *rc::gen::inRange(1, 999) / 1e3;
  std::vector<double> weights;
  std::vector<NoiseLaw> laws;
  const int size = *rc::gen::inRange(1, 6);
  for (int i = 0; i < size; ++i) {
    weights.push_back(*rc::gen::inRange(-1000, 1000) / 100.0);
    laws.push_back({.proxy = number(), .laplace_scale = number(), .laplace_terms = *rc::gen::inRange(0, 50)});
  }
  const double bound = ChernoffBound(proxy, weights, laws, level);
  std::vector<double> doubled = weights;
  for (double& weight : doubled) weight *= 2;
  RC_ASSERT(std::abs(ChernoffBound(4 * proxy, doubled, laws, level) / (2 * bound) - 1) < 1e-9);
  std::vector<NoiseLaw> more = laws;
  for (NoiseLaw& law : more) law.laplace_scale *= 1.5;
  RC_ASSERT(ChernoffBound(proxy, weights, more, level) >= bound * (1 - 1e-6));
  RC_ASSERT(ChernoffBound(proxy, weights, laws, level / 2) > bound * (1 - 1e-6));
}

// With 100,000 draws, a bound that holds exactly at its level would be exceeded this often with probability
// 3e-7.
TEST(ChernoffTest, IsExceededNoMoreOftenThanPromised) {
  const std::vector<double> weights = {1, -0.5, 0.2};
  const std::vector<NoiseLaw> laws = {{.laplace_scale = 1, .laplace_terms = 1},
                                      {.proxy = 1, .laplace_scale = 2, .laplace_terms = 3},
                                      {.laplace_scale = 0.1, .laplace_terms = 10}};
  test::Noise noise(1);
  const auto laplace = [&] {
    return std::log(internal::UniformPositive(noise.gen) / internal::UniformPositive(noise.gen));
  };
  constexpr int kDraws = 100'000;
  constexpr double kLevel = 0.05;
  const double bound = ChernoffBound(0.25, weights, laws, kLevel);
  int above = 0;
  int half = 0;
  for (int i = 0; i < kDraws; ++i) {
    double x = 0.5 * StandardNormal(noise.gen);
    for (std::size_t j = 0; j < laws.size(); ++j) {
      double z = laws[j].proxy * StandardNormal(noise.gen);
      for (Count term = 0; term < laws[j].laplace_terms; ++term) z += laws[j].laplace_scale * laplace();
      x += weights[j] * z;
    }
    above += x > bound;
    half += x > bound / 2;
  }
  EXPECT_LE(above, kDraws * kLevel + 5 * std::sqrt(kDraws * kLevel));
  EXPECT_GT(half, kDraws * kLevel) << "half the bound is not enough, and the test must see it";
}

double UpperTail(double u) { return 0.5 * std::erfc(u / std::sqrt(2.0)); }

TEST(TailBoundTest, ANormalErrorHasItsQuantile) {
  for (const double level : {0.4, 0.1, 1e-3, 1e-9, 1e-100, 1e-300}) {
    EXPECT_NEAR(UpperTail(TailBound({.normal = 4}, level) / 2) / level, 1, 1e-9) << level;
  }
  EXPECT_EQ(TailBound({.normal = 4}, 0.7), 0) << "what is dominated by a normal variable above 0 alone";
  EXPECT_EQ(TailBound({}, 0.1), 0);
}

// The mixed bound tends to the quantile when the other part fades. It never exceeds Chernoff's bound for
// both.
TEST(TailBoundTest, AMixedErrorIsBetweenItsQuantileAndChernoffs) {
  for (const double level : {0.1, 1e-3, 1e-9, 1e-300}) {
    const double quantile = TailBound({.normal = 1}, level);
    const double chernoff = std::sqrt(2 * std::log(1 / level));
    double last = quantile;
    for (const double other : {1e-12, 0.01, 0.1, 0.5, 0.9, 0.99}) {
      const double bound = TailBound({.normal = 1 - other, .sub_gaussian = other}, level);
      EXPECT_GE(bound, last * (1 - 1e-4)) << level << " " << other;
      EXPECT_LE(bound, chernoff * (1 + 1e-5)) << level << " " << other;
      last = bound;
    }
    EXPECT_NEAR(TailBound({.normal = 1, .sub_gaussian = 1e-14}, level) / quantile, 1,
                level < 0.05 ? 1e-4 : 0.2)
        << level;
  }
}

// The worst sub-Gaussian part is not normal. Here it is a random sign with the same proxy, for which the
// sum's tail is known exactly.
TEST(TailBoundTest, ASignBesideANormalPartIsCovered) {
  for (const double level : {0.3, 0.1, 0.01, 1e-4, 1e-8}) {
    for (const double sign : {0.1, 0.5, 1.0, 2.0}) {
      const double bound = TailBound({.normal = 1, .sub_gaussian = sign * sign}, level);
      EXPECT_LE((UpperTail(bound - sign) + UpperTail(bound + sign)) / 2, level) << level << " " << sign;
    }
  }
}

// There is one client, and its one coordinate is its normal part, so the tail of Z + weight max(0, Z - room)
// is known.
TEST(TailBoundTest, ExcessOfAClientIsCovered) {
  for (const double room : {0.0, 1.0, 2.5}) {
    for (const double weight : {0.1, 1.0, 5.0}) {
      double last = 0;
      for (const double level : {0.3, 0.01, 1e-6}) {
        const double bound = TailBound(
            {.sub_gaussian = 1, .excess = {.clients = 1, .weight = weight, .room = room, .pull = 1}}, level);
        const double z = bound <= room ? bound : (bound + weight * room) / (1 + weight);
        EXPECT_LE(UpperTail(z), level) << room << " " << weight;
        EXPECT_GE(bound, TailBound({.sub_gaussian = 1}, level) * (1 - 1e-9));
        EXPECT_GT(bound, last);
        last = bound;
      }
    }
  }
}

TEST(TailBoundTest, ExcessWithAllRoomIsNothing) {
  const ErrorLaw error{.sub_gaussian = 1, .excess = {.clients = 50, .weight = 1, .room = 30, .pull = 1}};
  EXPECT_NEAR(TailBound(error, 1e-6), TailBound({.sub_gaussian = 1}, 1e-6), 1e-4);
}

TEST(ChernoffDeathTest, SizesMustAgree) {
  const std::vector<double> weights = {1, 2};
  const std::vector<NoiseLaw> laws(1);
  EXPECT_DEATH((void)ChernoffBound(0, weights, laws, 0.1), "check failed");
}

}  // namespace
}  // namespace bandana
