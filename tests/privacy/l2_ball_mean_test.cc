#include "bandana/privacy/l2_ball_mean.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "bandana/core/status.h"
#include "bandana/privacy/mean_privatizers.h"
#include "bandana/privacy/shortened.h"
#include "bandana/privacy/wire.h"
#include "tests/support.h"

// Seeds are fixed. Means may be off by four standard errors; laws are compared with the Kolmogorov-Smirnov
// test at 1e-6.
namespace bandana {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kUnit = L2BallMean::kUnit;

using Vectors = std::vector<std::vector<double>>;

L2BallMean Made(L2BallRandomizer randomizer, std::int64_t dimension, double epsilon, double radius = 1,
                Sampler sampler = Sampler::kExact) {
  auto made = L2BallMean::Create({epsilon, randomizer, dimension, radius, sampler});
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

std::vector<std::int64_t> ReportOf(const L2BallMean& mean, std::vector<double> vector, NoiseGen& noise) {
  const auto report = mean.Randomize({1}, Raw<std::span<const double>>(vector), noise);
  EXPECT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->quorum(), 0) << "it is private by itself";
  return Wire::Units(*report);
}

double LengthOf(const std::vector<std::int64_t>& units) {
  double squares = 0;
  for (const std::int64_t unit : units) squares += static_cast<double>(unit) * static_cast<double>(unit);
  return std::sqrt(squares) * kUnit;
}

struct Case {
  L2BallRandomizer randomizer;
  std::int64_t dimension;
  double epsilon;
};
const std::vector<Case> kCases = {{L2BallRandomizer::kDuchi, 1, 1},    {L2BallRandomizer::kDuchi, 5, 1},
                                  {L2BallRandomizer::kDuchi, 50, 3},   {L2BallRandomizer::kPrivUnit, 1, 1},
                                  {L2BallRandomizer::kPrivUnit, 2, 2}, {L2BallRandomizer::kPrivUnit, 5, 1},
                                  {L2BallRandomizer::kPrivUnit, 50, 3}};

// The mean is x along x and 0 across it; the length is always the same.
TEST(L2BallMeanTest, IsUnbiasedAndOfOneLength) {
  constexpr int kDraws = 4000;
  for (const Case& c : kCases) {
    for (const Sampler sampler : {Sampler::kExact, Sampler::kFast}) {
      for (const double length : {0.0, 0.6, 2.0}) {
        const L2BallMean mean = Made(c.randomizer, c.dimension, c.epsilon, 2, sampler);
        std::vector<double> x(static_cast<std::size_t>(c.dimension), 0);
        x[0] = -length * (c.dimension > 1 ? 0.8 : 1);
        if (c.dimension > 1) x[1] = length * 0.6;
        const double reach = mean.setting().scale * 2;
        test::Noise noise(static_cast<std::uint64_t>(c.dimension) + 1);
        std::vector<double> sums(x.size(), 0);
        for (int i = 0; i < kDraws; ++i) {
          const auto units = ReportOf(mean, x, noise.gen);
          ASSERT_NEAR(LengthOf(units), reach, 1e-6 * reach);
          for (std::size_t j = 0; j < x.size(); ++j) sums[j] += static_cast<double>(units[j]) * kUnit;
        }
        // The variance of a coordinate is at most reach^2 along x and reach^2/(d - 1) across it on average.
        // The test looks at 50 coordinates.
        for (std::size_t j = 0; j < x.size(); ++j) {
          const double stddev = j < 2 ? reach : reach * 1.5 / std::sqrt(static_cast<double>(c.dimension));
          EXPECT_NEAR(sums[j] / kDraws, x[j], 4 * stddev / std::sqrt(kDraws))
              << c.dimension << " " << length << " coordinate " << j;
        }
      }
    }
  }
}

TEST(L2BallMeanTest, TheErrorIsAsLongAsTheSettingSays) {
  for (const Case& c : kCases) {
    const L2BallMean mean = Made(c.randomizer, c.dimension, c.epsilon);
    std::vector<double> x(static_cast<std::size_t>(c.dimension), 0);
    x[0] = 1;
    test::Noise noise(2);
    double squares = 0;
    constexpr int kDraws = 4000;
    for (int i = 0; i < kDraws; ++i) {
      const auto units = ReportOf(mean, x, noise.gen);
      for (std::size_t j = 0; j < x.size(); ++j) {
        const double error = static_cast<double>(units[j]) * kUnit - x[j];
        squares += error * error;
      }
    }
    const double stated = mean.setting().stddev_at_radius * std::sqrt(static_cast<double>(c.dimension));
    // In each draw, |error|^2 = scale^2 - 2 scale <v, x> + 1 varies by at most 2 scale.
    EXPECT_NEAR(squares / kDraws, stated * stated, 4 * 2 * mean.setting().scale / std::sqrt(kDraws));
  }
}

// Both samplers must have the same law along the axis; the proof assumes this law.
TEST(L2BallMeanTest, ExactAndFastSamplersAgreeInLaw) {
  for (const Case& c : kCases) {
    if (c.dimension == 1) continue;
    std::vector<double> x(static_cast<std::size_t>(c.dimension), 1 / std::sqrt(c.dimension));
    const auto along = [&](double epsilon, Sampler sampler, std::uint64_t seed) {
      const L2BallMean mean = Made(c.randomizer, c.dimension, epsilon, 1, sampler);
      test::Noise noise(seed);
      std::vector<double> products;
      for (int i = 0; i < 3000; ++i) {
        const auto units = ReportOf(mean, x, noise.gen);
        double product = 0;
        for (std::size_t j = 0; j < x.size(); ++j) product += static_cast<double>(units[j]) * x[j];
        products.push_back(product / LengthOf(units));
      }
      return products;
    };
    const auto exact = along(c.epsilon, Sampler::kExact, 3);
    EXPECT_TRUE(test::SameLaw(exact, along(c.epsilon, Sampler::kFast, 4)));
    EXPECT_FALSE(test::SameLaw(exact, along(c.epsilon / 3, Sampler::kFast, 5))) << "it sees nothing";
  }
}

// In one dimension it is randomized response with odds of p to 1 - p, and p/(1 - p) <= e^epsilon.
TEST(L2BallMeanTest, InOneDimensionItIsRandomizedResponse) {
  for (const L2BallRandomizer randomizer : {L2BallRandomizer::kDuchi, L2BallRandomizer::kPrivUnit}) {
    const L2BallMean mean = Made(randomizer, 1, 1);
    test::Noise noise(6);
    int same = 0;
    constexpr int kDraws = 20'000;
    for (int i = 0; i < kDraws; ++i) same += ReportOf(mean, {1}, noise.gen)[0] > 0;
    const double p = std::exp(1) / (1 + std::exp(1));
    EXPECT_NEAR(same, kDraws * p, 4 * std::sqrt(kDraws * p * (1 - p)));
    EXPECT_EQ(std::abs(ReportOf(mean, {1}, noise.gen)[0]), std::abs(ReportOf(mean, {-0.3}, noise.gen)[0]));
  }
}

TEST(L2BallMeanTest, ClaimsNoMoreThanWasAskedAndChargesForTheLattice) {
  for (const double epsilon : {1e-4, 0.1, 1.0, 4.0, 8.0}) {
    for (const std::int64_t dimension : {2, 3, 39, 40, 500}) {
      const L2BallMean duchi = Made(L2BallRandomizer::kDuchi, dimension, epsilon);
      EXPECT_EQ(duchi.guarantee().epsilon, duchi.setting().delivered_epsilon) << "symmetry alone suffices";
      EXPECT_LE(duchi.guarantee().epsilon, epsilon);
      const L2BallMean cap = Made(L2BallRandomizer::kPrivUnit, dimension, epsilon);
      EXPECT_GT(cap.guarantee().epsilon, cap.setting().delivered_epsilon);
      EXPECT_LE(cap.guarantee().epsilon, epsilon);
      EXPECT_GT(cap.guarantee().epsilon, 0.98 * epsilon) << "the lattice costs too much: " << epsilon;
      EXPECT_EQ(cap.guarantee().delta, 0);
      EXPECT_EQ(cap.claims()[0].guarantee, cap.guarantee());
    }
  }
}

TEST(L2BallMeanTest, BadParametersAreRefusedByName) {
  const auto key = [](L2BallParams params) {
    const auto made = L2BallMean::Create(params);
    return made.ok() ? "accepted" : InputErrorOf(made.status()).value_or(InputError{}).key;
  };
  const L2BallParams good{1, L2BallRandomizer::kPrivUnit, 5, 1, Sampler::kExact};
  EXPECT_EQ(key(good), "accepted");
  for (const double bad : {0.0, -1.0, kNan, kInfinity, 1e-310, 1e-7, 29.0}) {  // at 29, no draw hits the cap
    L2BallParams params = good;
    params.epsilon = bad;
    EXPECT_EQ(key(params), "epsilon") << bad;
  }
  for (const double bad : {0.0, -1.0, kNan, kInfinity, 1e-310, 0x1p20}) {
    L2BallParams params = good;
    params.radius = bad;
    EXPECT_EQ(key(params), "radius") << bad;
  }
  for (const std::int64_t bad : {0, -1, 1'000'001}) {
    L2BallParams params = good;
    params.dimension = bad;
    EXPECT_EQ(key(params), "dimension") << bad;
  }
}

TEST(L2BallMeanTest, WildVectorsHaveReportsOfTheSameLength) {
  const L2BallMean mean = Made(L2BallRandomizer::kPrivUnit, 3, 1);
  test::Noise noise(7);
  const Vectors wild = {{kNan, 0, 0},          {kInfinity, 1, 1},        {1, -kInfinity, kNan},
                        {1e308, 1e308, 1e308}, {-1e200, 1e200, 0},       {5e-324, 0, 0},
                        {-0.0, 0, 0},          {1e-320, -1e-320, 1e-300}};
  for (const std::vector<double>& vector : wild) {
    EXPECT_NEAR(LengthOf(ReportOf(mean, vector, noise.gen)), mean.setting().scale, 1e-6);
  }
}

// A vector that is too long keeps its direction. A vector that is not finite counts as 0.
TEST(ShortenedTest, KeepsDirectionsAndNothingElse) {
  using ::testing::DoubleNear;
  using ::testing::ElementsAre;
  const auto shortened = [](std::vector<double> x, double radius) { return Shortened(x, radius); };
  EXPECT_THAT(shortened({3, 4}, 10), ElementsAre(0.3, 0.4));
  for (const double scale : {2.0, 1e10, 1e154, 1e300, 2e307}) {
    EXPECT_THAT(shortened({3 * scale, -4 * scale}, 1),
                ElementsAre(DoubleNear(0.6, 1e-15), DoubleNear(-0.8, 1e-15)))
        << scale;
  }
  EXPECT_THAT(shortened({3e-310, 4e-310}, 1e-320), ElementsAre(DoubleNear(0.6, 1e-9), DoubleNear(0.8, 1e-9)));
  EXPECT_THAT(shortened({kNan, 1}, 1), ElementsAre(0, 0));
  EXPECT_THAT(shortened({1, kInfinity}, 1), ElementsAre(0, 0));
  EXPECT_THAT(shortened({0, -0.0}, 1), ElementsAre(0, 0));
  EXPECT_THAT(shortened({}, 1), ::testing::IsEmpty());
}

RC_GTEST_PROP(ShortenedTest, IsNeverLongerThanOne, (std::vector<double> x)) {
  const double radius = std::exp(*rc::gen::inRange(-600, 600));
  long double squares = 0;
  for (const double y : Shortened(x, radius)) squares += static_cast<long double>(y) * y;
  RC_ASSERT(squares <= 1 + 0x1p-51L * static_cast<long double>(x.size() + 8));
}

Report From(std::uint32_t client, std::vector<std::int64_t> units) {
  return Wire::FromUnits(NodeId{client}, std::move(units));
}

TEST(L2BallMeanTest, TheAverageIsOfAllClientsAndTheLawIsFromAbove) {
  const L2BallMean mean = Made(L2BallRandomizer::kPrivUnit, 4, 2);
  const BallQuery query{50};
  test::Noise noise(8);
  const std::vector<double> x = {0.5, -0.5, 0.1, 0};
  std::vector<std::vector<double>> errors(4);
  NoiseLaw law;
  for (int run = 0; run < 500; ++run) {
    BasicReportSum<BallQuery> sum;
    for (std::uint32_t client = 1; client <= 50; ++client) {
      ASSERT_TRUE(mean.Add(query, From(client, ReportOf(mean, x, noise.gen)), sum).ok());
    }
    const auto released = mean.Open(query, *mean.Seal(sum, noise.gen));
    ASSERT_TRUE(released.ok());
    law = released->noise()[0];
    for (std::size_t j = 0; j < 4; ++j) errors[j].push_back(released->value().entries[j] - x[j]);
  }
  for (const std::vector<double>& error : errors) {
    const test::Moments moments = test::MomentsOf(error);
    EXPECT_LE(std::abs(moments.mean), 4 * law.stddev() / std::sqrt(500));
    EXPECT_LE(std::sqrt(moments.variance), law.stddev());
    EXPECT_GE(std::sqrt(moments.variance), law.stddev() / 4) << "the law says nothing";
  }
}

TEST(L2BallMeanTest, SumsWantEveryClientOnceAndTheirSize) {
  const L2BallMean mean = Made(L2BallRandomizer::kDuchi, 2, 1);
  const BallQuery query{2};
  test::Noise noise(9);
  BasicReportSum<BallQuery> sum;
  EXPECT_FALSE(mean.Seal(sum, noise.gen).ok());
  EXPECT_FALSE(mean.Add(query, From(1, {1}), sum).ok());
  EXPECT_FALSE(mean.Add(query, From(0, {1, 1}), sum).ok()) << "of nobody";
  ASSERT_TRUE(mean.Add(query, From(1, {1, 1}), sum).ok());
  EXPECT_FALSE(mean.Add(query, From(1, {1, 1}), sum).ok()) << "twice";
  EXPECT_FALSE(mean.Add(BallQuery{3}, From(2, {1, 1}), sum).ok()) << "of another query";
  EXPECT_EQ(mean.Seal(sum, noise.gen).status().code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(mean.Add(query, From(2, {1, 1}), sum).ok());
  EXPECT_TRUE(mean.Seal(sum, noise.gen).ok());
  BasicReportSum<BallQuery> many;
  EXPECT_EQ(Made(L2BallRandomizer::kDuchi, 2, 1, 1e5)
                .Add(BallQuery{std::int64_t{1} << 40}, From(1, {1, 1}), many)
                .code(),
            absl::StatusCode::kInvalidArgument)
      << "a sum that does not fit is refused before it is begun";
}

TEST(L2BallMeanTest, AClientThatLiesMovesTheSumByItsLengthAtMost) {
  const L2BallMean mean = Made(L2BallRandomizer::kDuchi, 2, 1);
  test::Noise noise(10);
  for (const std::int64_t lie :
       {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    BasicReportSum<BallQuery> sum;
    ASSERT_TRUE(mean.Add({1}, From(1, {lie, 0}), sum).ok());
    const auto released = mean.Open({1}, *mean.Seal(sum, noise.gen));
    EXPECT_NEAR(std::abs(released->value().entries[0]), mean.setting().scale, 1e-6);
    EXPECT_EQ(released->value().entries[1], 0);
  }
}

}  // namespace
}  // namespace bandana
