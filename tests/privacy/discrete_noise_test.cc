#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "absl/functional/function_ref.h"
#include "bandana/core/distributions.h"
#include "bandana/privacy/samplers/bernoulli_exp.h"
#include "bandana/privacy/samplers/discrete_gaussian.h"
#include "bandana/privacy/samplers/discrete_laplace.h"
#include "bandana/privacy/samplers/geometric.h"
#include "bandana/privacy/samplers/rounded_normal.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support.h"

// Seeds are fixed, except where the operating system supplies the bits. Each comparison has a false-alarm
// rate of 1e-6 over seeds, or 1e-9 with the system's bits, and there are about 100. Planted violations must
// fail the same comparisons.
namespace bandana {
namespace {

using test::FitsCdf;
using test::FitsMasses;
using test::Noise;
using ::testing::ElementsAre;

constexpr int kDraws = 100'000;
constexpr std::uint64_t kAlmostOne = (std::uint64_t{1} << 60) - 1;

double Value(Rational r) { return static_cast<double>(r.num) / static_cast<double>(r.den); }

/// Returns whether draws have probabilities proportional to `weight` on {-reach, ..., reach}. Draws beyond,
/// which have almost no probability, count at the ends.
bool HasWeights(std::int64_t reach, absl::FunctionRef<long double(long double)> weight,
                absl::FunctionRef<std::int64_t()> draw, double false_alarm = 1e-6) {
  std::vector<double> counts(2 * reach + 1), masses(2 * reach + 1);
  long double sum = 0;
  for (std::int64_t x = -reach; x <= reach; ++x) sum += weight(static_cast<long double>(x));
  for (std::int64_t x = -reach; x <= reach; ++x) {
    masses[x + reach] = static_cast<double>(weight(static_cast<long double>(x)) / sum);
  }
  for (int i = 0; i < kDraws; ++i) counts[std::clamp(draw(), -reach, reach) + reach] += 1;
  return FitsMasses(counts, masses, false_alarm);
}

bool HasOdds(double p, absl::FunctionRef<bool()> draw) {
  double successes = 0;
  for (int i = 0; i < kDraws; ++i) successes += draw() ? 1 : 0;
  return test::FitsCounts(std::vector{successes, kDraws - successes},
                          std::vector{kDraws * p, kDraws * (1 - p)});
}

TEST(BernoulliTest, HasItsOdds) {
  Noise noise(1);
  for (const Rational p : {Rational{50, 100}, {30, 90}, {990, 1000}, {kAlmostOne / 3, kAlmostOne}}) {
    EXPECT_TRUE(HasOdds(Value(p), [&] { return Bernoulli(p, noise.gen); })) << Value(p);
    EXPECT_FALSE(HasOdds(Value(p), [&] { return Bernoulli({p.num / 10 * 9, p.den}, noise.gen); }));
  }
  EXPECT_FALSE(Bernoulli({0, 1}, noise.gen));
  EXPECT_TRUE(Bernoulli({7, 7}, noise.gen));
}

TEST(BernoulliExpTest, HasItsOdds) {
  Noise noise(2);
  for (const Rational gamma : {Rational{1, 1000},
                               {1, 3},
                               {1, 2},
                               {999, 1000},
                               {1, 1},
                               {3, 2},
                               {2, 1},
                               {19, 4},
                               {kAlmostOne / 5, kAlmostOne},
                               {kAlmostOne, kAlmostOne / 3}}) {
    const double p = std::exp(-Value(gamma));
    EXPECT_TRUE(HasOdds(p, [&] { return BernoulliExp(gamma, noise.gen); })) << Value(gamma);
  }
  EXPECT_FALSE(HasOdds(std::exp(-0.52), [&] { return BernoulliExp({1, 2}, noise.gen); }));
  EXPECT_TRUE(BernoulliExp({0, 1}, noise.gen));
  EXPECT_FALSE(BernoulliExp({std::numeric_limits<std::uint64_t>::max(), 1}, noise.gen));
}

// Draws with probability exp(-P(event)) for an event whose probability is not given as a fraction: two
// uniforms whose sum is below 1.
TEST(BernoulliExpTest, TakesAnyEvent) {
  Noise noise(3);
  const auto event = [&] { return UniformUnit(noise.gen) + UniformUnit(noise.gen) < 1; };
  EXPECT_TRUE(HasOdds(std::exp(-0.5), [&] { return BernoulliExpOfEvent(event, noise.gen); }));
}

TEST(GeometricTest, HasTheLaw) {
  Noise noise(4);
  for (const Rational rate : {Rational{1, 1}, {1, 10}, {3, 10}, {7, 2}, {1, 1000}, {2, 3}, {3, 1}}) {
    const auto reach = static_cast<std::int64_t>(std::ceil(40 / Value(rate)));
    const auto weight = [&](long double x) { return x < 0 ? 0 : std::exp(-x * Value(rate)); };
    EXPECT_TRUE(HasWeights(reach, weight, [&] {
      return static_cast<std::int64_t>(Geometric(rate, noise.gen));
    })) << Value(rate);
  }
}

bool IsDiscreteLaplace(double scale, absl::FunctionRef<std::int64_t()> draw, double false_alarm = 1e-6) {
  const auto reach = static_cast<std::int64_t>(std::ceil(40 * scale));
  return HasWeights(reach, [&](long double x) { return std::exp(-std::abs(x) / scale); }, draw, false_alarm);
}

TEST(DiscreteLaplaceTest, HasTheLaw) {
  Noise noise(5);
  for (const Rational scale :
       {Rational{1, 1}, {1, 3}, {5, 2}, {2, 5}, {10, 1}, {100, 7}, {kAlmostOne, kAlmostOne / 2}, {50, 1}}) {
    const auto draw = [&] { return DiscreteLaplace(scale, noise.gen); };
    EXPECT_TRUE(IsDiscreteLaplace(Value(scale), draw)) << Value(scale);
  }
}

TEST(DiscreteLaplaceTest, PlantedFaultsAreSeen) {
  Noise noise(6);
  EXPECT_FALSE(IsDiscreteLaplace(10, [&] { return DiscreteLaplace({93, 10}, noise.gen); }));
  const auto with_minus_zero = [&] {
    const auto magnitude = static_cast<std::int64_t>(Geometric({1, 10}, noise.gen));
    return (noise.gen() >> 63) != 0 ? -magnitude : magnitude;
  };
  EXPECT_FALSE(IsDiscreteLaplace(10, with_minus_zero));
}

TEST(DiscreteLaplaceTest, HasTheLawAtTheLargestScales) {
  constexpr std::uint64_t kScale = (std::uint64_t{1} << 51) + 987'654'321;
  Noise noise(7);
  for (const std::uint64_t den : {1, 1000}) {
    std::vector<double> sample(kDraws), low(256);
    for (double& x : sample) {
      const std::int64_t draw = DiscreteLaplace({kScale * den + den / 2, den}, noise.gen);
      low[draw & 255] += 1;
      x = static_cast<double>(draw) / static_cast<double>(kScale);
    }
    const auto cdf = [](double x) { return x < 0 ? std::exp(x) / 2 : 1 - std::exp(-x) / 2; };
    EXPECT_TRUE(FitsCdf(sample, cdf)) << den;
    EXPECT_TRUE(FitsMasses(low, std::vector<double>(256, 1. / 256))) << den;
    for (double& x : sample) x *= 1.05;
    EXPECT_FALSE(FitsCdf(sample, cdf)) << den;
  }
}

bool IsDiscreteGaussian(double variance, absl::FunctionRef<std::int64_t()> draw, double false_alarm = 1e-6) {
  const auto reach = static_cast<std::int64_t>(std::ceil(10 * std::sqrt(variance)));
  return HasWeights(
      reach, [&](long double x) { return std::exp(-x * x / (2 * variance)); }, draw, false_alarm);
}

using GaussianSampler = absl::FunctionRef<std::int64_t(Rational, NoiseGen&)>;

void ExpectDiscreteGaussians(GaussianSampler sampler, std::uint64_t seed) {
  Noise noise(seed);
  for (const Rational stddev :
       {Rational{1, 1}, {1, 2}, {3, 2}, {7, 10}, {2, 5}, {1, 4}, {3, 1}, {10, 1}, {100, 7}, {99, 100}}) {
    EXPECT_TRUE(IsDiscreteGaussian(Value(stddev) * Value(stddev), [&] { return sampler(stddev, noise.gen); }))
        << Value(stddev);
  }
}

TEST(DiscreteGaussianTest, HasTheLaw) { ExpectDiscreteGaussians(DiscreteGaussian, 8); }
TEST(DiscreteGaussianTest, HasTheSameLawByBytes) {
  ExpectDiscreteGaussians(internal::DiscreteGaussianByDigits<8>, 9);
}
TEST(DiscreteGaussianTest, HasTheSameLawBySingleBits) {
  ExpectDiscreteGaussians(internal::DiscreteGaussianByDigits<1>, 10);
}

TEST(DiscreteGaussianTest, HasTheLawOfARationalVariance) {
  Noise noise(11);
  for (const Rational variance : {Rational{1, 1},
                                  {2, 1},
                                  {1, 4},
                                  {3, 4},
                                  {5, 4},
                                  {7, 3},
                                  {17, 4},
                                  {1000, 7},
                                  {1, 16},
                                  {kAlmostOne, kAlmostOne / 2},
                                  {kAlmostOne / 2, kAlmostOne}}) {
    EXPECT_TRUE(IsDiscreteGaussian(Value(variance), [&] {
      return DiscreteGaussianOfVariance(variance, noise.gen);
    })) << Value(variance);
  }
}

TEST(DiscreteGaussianTest, PlantedFaultsAreSeen) {
  Noise noise(12);
  EXPECT_FALSE(IsDiscreteGaussian(100, [&] { return DiscreteGaussian({95, 10}, noise.gen); }));
  EXPECT_FALSE(IsDiscreteGaussian(2.1, [&] { return DiscreteGaussianOfVariance({2, 1}, noise.gen); }));
  EXPECT_FALSE(IsDiscreteGaussian(4, [&] { return RoundedNormal(2, noise.gen); }));
  // A normal that is rounded to the nearest integer has variance 1 + 1/12.
  EXPECT_FALSE(IsDiscreteGaussian(1, [&] { return (RoundedNormal(2, noise.gen) + 1) >> 1; }));
}

double NormalCdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

TEST(DiscreteGaussianTest, HasTheLawAtTheLargestScales) {
  constexpr std::uint64_t kStddev = (std::uint64_t{1} << 52) - 1;
  constexpr std::uint64_t kVariance = (std::uint64_t{1} << 61) - 1;
  const auto expect = [](double stddev, absl::FunctionRef<std::int64_t()> draw) {
    std::vector<double> sample(kDraws), low(256);
    for (double& x : sample) {
      const std::int64_t value = draw();
      low[value & 255] += 1;
      x = static_cast<double>(value) / stddev;
    }
    EXPECT_TRUE(FitsCdf(sample, NormalCdf)) << stddev;
    EXPECT_TRUE(FitsMasses(low, std::vector<double>(256, 1. / 256))) << stddev;
    for (double& x : sample) x *= 1.05;
    EXPECT_FALSE(FitsCdf(sample, NormalCdf)) << stddev;
  };
  Noise noise(13);
  expect(kStddev, [&] { return DiscreteGaussian({kStddev, 1}, noise.gen); });
  expect(kStddev / 1000., [&] { return DiscreteGaussian({kStddev, 1000}, noise.gen); });
  expect(kStddev, [&] { return internal::DiscreteGaussianByDigits<1>({kStddev, 1}, noise.gen); });
  expect(std::sqrt(kVariance), [&] { return DiscreteGaussianOfVariance({kVariance, 1}, noise.gen); });
}

// At the largest arguments nothing overflows, and almost all mass is at 0 or next to it.
TEST(DiscreteGaussianTest, TakesExtremeRatios) {
  constexpr std::uint64_t kMost = (std::uint64_t{1} << 52) - 1;
  constexpr std::uint64_t kMostVariance = (std::uint64_t{1} << 61) - 1;
  Noise noise(14);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(DiscreteGaussian({1, kMost}, noise.gen), 0);
    EXPECT_EQ(DiscreteGaussianOfVariance({1, kMostVariance}, noise.gen), 0);
  }
  EXPECT_TRUE(IsDiscreteGaussian(1, [&] { return DiscreteGaussian({kMost - 1, kMost}, noise.gen); }));
  for (const std::uint64_t num : {kMostVariance - 1, kMostVariance}) {
    const Rational variance{num, kMostVariance - 1};
    EXPECT_TRUE(IsDiscreteGaussian(1, [&] { return DiscreteGaussianOfVariance(variance, noise.gen); }));
  }
}

TEST(DiscreteNoiseTest, HasTheLawsWithSecureBits) {
  SecureSource source;
  NoiseGen gen = NoiseDoor::Open(source);
  EXPECT_TRUE(IsDiscreteGaussian(9, [&] { return DiscreteGaussian({3, 1}, gen); }, 1e-9));
  EXPECT_TRUE(IsDiscreteGaussian(2.5, [&] { return DiscreteGaussianOfVariance({5, 2}, gen); }, 1e-9));
  EXPECT_TRUE(IsDiscreteLaplace(3, [&] { return DiscreteLaplace({3, 1}, gen); }, 1e-9));
  EXPECT_FALSE(IsDiscreteLaplace(4, [&] { return DiscreteLaplace({3, 1}, gen); }, 1e-9));
}

std::vector<std::int64_t> First(int n, absl::FunctionRef<std::int64_t()> draw) {
  std::vector<std::int64_t> values(n);
  for (auto& value : values) value = draw();
  return values;
}

// A run must give the same noise on every machine and in every version.
TEST(DiscreteNoiseTest, IsAFunctionOfItsKey) {
  Noise noise(15);
  EXPECT_THAT(First(5, [&] { return Geometric({1, 1000}, noise.gen); }),
              ElementsAre(6433, 377, 1612, 651, 166));
  EXPECT_THAT(First(5, [&] { return DiscreteLaplace({1000, 1}, noise.gen); }),
              ElementsAre(2282, 1309, -627, 688, -761));
  EXPECT_THAT(First(5, [&] { return DiscreteGaussian({1000, 1}, noise.gen); }),
              ElementsAre(766, -1879, 1612, 546, -322));
  EXPECT_THAT(First(5, [&] { return DiscreteGaussianOfVariance({1000, 1}, noise.gen); }),
              ElementsAre(-13, -35, 88, 3, 34));
}

TEST(DiscreteNoiseDeathTest, BadArgumentsEndTheProgram) {
  Noise noise(16);
  constexpr std::uint64_t k52 = std::uint64_t{1} << 52;
  constexpr std::uint64_t k61 = std::uint64_t{1} << 61;
  EXPECT_DEATH(Bernoulli({1, 0}, noise.gen), "den > 0");
  EXPECT_DEATH(Bernoulli({2, 1}, noise.gen), "num <= p.den");
  EXPECT_DEATH(BernoulliExp({1, 0}, noise.gen), "den > 0");
  for (const Rational bad : {Rational{0, 1}, {1, 0}, {1, k52}}) {
    EXPECT_DEATH(Geometric(bad, noise.gen), "rate");
    EXPECT_DEATH(DiscreteLaplace({bad.den, bad.num}, noise.gen), "scale");
  }
  for (const Rational bad : {Rational{0, 1}, {k52, 1}, {1, 0}, {1, k52}}) {
    EXPECT_DEATH(DiscreteGaussian(bad, noise.gen), "check failed");
  }
  for (const Rational bad : {Rational{0, 1}, {k61, 1}, {1, 0}, {1, k61}}) {
    EXPECT_DEATH(DiscreteGaussianOfVariance(bad, noise.gen), "check failed");
  }
}

}  // namespace
}  // namespace bandana
