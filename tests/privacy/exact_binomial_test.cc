#include "bandana/privacy/samplers/exact_binomial.h"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "absl/functional/function_ref.h"
#include "bandana/core/distributions.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support.h"

// Seeds are fixed, except where the operating system supplies the bits. Each comparison has a false-alarm
// rate of 1e-6 over seeds, or 1e-9 with the system's bits, and there are about 60. Planted violations must
// fail the same comparisons.
namespace bandana {
namespace {

using test::FitsCdf;
using test::FitsMasses;
using test::Noise;
using ::testing::ElementsAre;

constexpr int kDraws = 100'000;

bool IsBinomial(std::uint64_t n, double p, absl::FunctionRef<std::uint64_t()> draw,
                double false_alarm = 1e-6) {
  std::vector<double> counts(n + 1), masses(n + 1);
  const boost::math::binomial law(static_cast<double>(n), p);
  for (std::uint64_t k = 0; k <= n; ++k) masses[k] = boost::math::pdf(law, static_cast<double>(k));
  for (int i = 0; i < kDraws; ++i) counts.at(draw()) += 1;
  return FitsMasses(counts, masses, false_alarm);
}

TEST(ExactBinomialTest, CountingHasTheLaw) {
  Noise noise(1);
  for (const std::uint64_t n : {1, 2, 7, 63, 64, 65, 130, 1000}) {
    EXPECT_TRUE(IsBinomial(n, 0.5, [&] { return internal::BinomialByCounting(n, noise.gen); })) << n;
  }
}

// Small n make the correction large and reach all of its branches.
TEST(ExactBinomialTest, RejectionHasTheLaw) {
  Noise noise(2);
  for (const std::uint64_t n : {1, 2, 3, 4, 5, 6, 8, 10, 13, 20, 64, 257, 1000}) {
    EXPECT_TRUE(IsBinomial(n, 0.5, [&] { return internal::BinomialByRejection(n, noise.gen); })) << n;
  }
}

// C(n, n/2 + x)/C(n, n/2) = exp(-2 x^2/N - R), where N = n + 1 and R is the proof note's correction.
TEST(ExactBinomialTest, TheCorrectionIsWhatIsProved) {
  using boost::math::quadrature::gauss;
  for (const int n : {2, 4, 10, 100}) {
    const double total = n + 1;
    const int half = n / 2;
    double log_ratio = 0;
    for (int x = 1; x <= half; ++x) {
      log_ratio += std::log(static_cast<double>(half - x + 1) / (half + x));
      double correction = 0;
      for (int i = 1; i <= x; ++i) {
        const auto integrand = [&](double s) {
          const double d = 2 * std::abs(i + s - x - 0.5);
          return 2 * d * d / (total * (total - d) * (total + d));
        };
        for (int j = 0; j < 2 * x; ++j)
          correction += gauss<double, 15>::integrate(integrand, 0.5 * j, 0.5 * (j + 1));
      }
      EXPECT_NEAR(-log_ratio, 2. * x * x / total + correction, 1e-11 * std::max(1., -log_ratio))
          << n << " " << x;
    }
  }
}

TEST(ExactBinomialTest, HasTheLawForAnyRationalP) {
  Noise noise(3);
  for (const std::uint64_t n : {1, 2, 10, 100, 3001}) {
    for (const Rational p : {Rational{1, 2}, {1, 4}, {3, 4}, {1, 3}, {5, 7}, {1, 1000}, {11, 16}}) {
      const double odds = static_cast<double>(p.num) / static_cast<double>(p.den);
      if (static_cast<double>(n) * odds < 0.1) continue;
      EXPECT_TRUE(IsBinomial(n, odds, [&] { return ExactBinomial(n, p, noise.gen); })) << n << " " << odds;
    }
  }
}

TEST(ExactBinomialTest, HasTheLawWithSecureBits) {
  SecureSource source;
  NoiseGen gen = NoiseDoor::Open(source);
  EXPECT_TRUE(IsBinomial(100, 0.5, [&] { return ExactBinomial(100, gen); }, 1e-9));
  EXPECT_TRUE(IsBinomial(100, 0.3, [&] { return ExactBinomial(100, {3, 10}, gen); }, 1e-9));
  EXPECT_TRUE(IsBinomial(5000, 0.5, [&] { return ExactBinomial(5000, gen); }, 1e-9));
}

TEST(ExactBinomialTest, PlantedFaultsAreSeen) {
  Noise noise(4);
  EXPECT_FALSE(IsBinomial(20, 0.31, [&] { return ExactBinomial(20, {3, 10}, noise.gen); }));
  EXPECT_FALSE(IsBinomial(101, 0.5, [&] { return internal::BinomialByRejection(100, noise.gen); }));
  // A fault: if ties with p count as successes, p is 1/4 + 1/4 instead of 1/4.
  EXPECT_FALSE(IsBinomial(10, 0.25, [&] { return ExactBinomial(10, {1, 2}, noise.gen); }));
  EXPECT_FALSE(IsBinomial(1000, 0.5, [&] { return ExactBinomial(900, noise.gen) + 50; }));
}

double NormalCdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

TEST(ExactBinomialTest, HasTheLawForHugeN) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  Noise noise(5);
  for (const std::uint64_t n : {std::uint64_t{1} << 45, std::uint64_t{1} << 60, kMost}) {
    for (const Rational p : {Rational{1, 2}, {1, 3}}) {
      const double odds = static_cast<double>(p.num) / static_cast<double>(p.den);
      const double stddev = std::sqrt(static_cast<double>(n) * odds * (1 - odds));
      const auto mean = static_cast<std::uint64_t>(static_cast<long double>(n) * p.num / p.den);
      std::vector<double> sample(10'000), low(64);
      for (double& x : sample) {
        const std::uint64_t draw = ExactBinomial(n, p, noise.gen);
        x = static_cast<double>(static_cast<std::int64_t>(draw - mean)) / stddev;
        low[draw & 63] += 1;
      }
      EXPECT_TRUE(FitsCdf(sample, NormalCdf)) << n << " " << odds;
      EXPECT_TRUE(FitsMasses(low, std::vector<double>(64, 1. / 64))) << n << " " << odds;
      for (double& x : sample) x *= 1.15;
      EXPECT_FALSE(FitsCdf(sample, NormalCdf)) << n << " " << odds;
    }
  }
}

TEST(ExactBinomialTest, TheFastOneHasTheSameLaw) {
  Noise noise(6);
  for (const std::int64_t n : {std::int64_t{200}, std::int64_t{1} << 40}) {
    std::vector<double> exact(50'000), fast(50'000);
    const auto mean = n * 3 / 10;
    for (double& x : exact)
      x = static_cast<double>(static_cast<std::int64_t>(ExactBinomial(n, {3, 10}, noise.gen)) - mean);
    for (double& x : fast) x = static_cast<double>(Binomial(n, 0.3, noise.gen) - mean);
    EXPECT_TRUE(test::SameLaw(exact, fast)) << n;
    for (double& x : fast) x += std::sqrt(static_cast<double>(n)) / 20;
    EXPECT_FALSE(test::SameLaw(exact, fast)) << n;
  }
}

TEST(ExactBinomialTest, EdgesAreCertain) {
  Noise noise(7);
  for (const std::uint64_t n :
       {std::uint64_t{0}, std::uint64_t{1}, std::numeric_limits<std::uint64_t>::max()}) {
    EXPECT_EQ(ExactBinomial(n, {0, 1}, noise.gen), 0);
    EXPECT_EQ(ExactBinomial(n, {5, 5}, noise.gen), n);
  }
  EXPECT_EQ(ExactBinomial(0, noise.gen), 0);
  EXPECT_EQ(internal::BinomialByRejection(0, noise.gen), 0);
}

TEST(ExactBinomialTest, IsAFunctionOfItsKey) {
  Noise noise(8);
  const auto first = [&](std::uint64_t n, Rational p) {
    std::vector<std::uint64_t> draws(3);
    for (auto& draw : draws) draw = ExactBinomial(n, p, noise.gen);
    return draws;
  };
  EXPECT_THAT(first(100, {1, 2}), ElementsAre(51, 51, 44));
  EXPECT_THAT(first(1'000'000, {1, 2}), ElementsAre(500277, 500159, 500200));
  EXPECT_THAT(first(1'000'000, {1, 3}), ElementsAre(333363, 333425, 332993));
  EXPECT_THAT(first(std::uint64_t{1} << 62, {1, 4}),
              ElementsAre(1152921503899407809, 1152921504989321434, 1152921505272423062));
}

TEST(ExactBinomialDeathTest, BadArgumentsEndTheProgram) {
  Noise noise(9);
  EXPECT_DEATH(ExactBinomial(1, {1, 0}, noise.gen), "den > 0");
  EXPECT_DEATH(ExactBinomial(1, {2, 1}, noise.gen), "num <= p.den");
  EXPECT_DEATH(ExactBinomial(1, {1, std::uint64_t{1} << 63}, noise.gen), "63");
  EXPECT_DEATH(internal::BinomialByRejection((std::uint64_t{1} << 60) + 1, noise.gen), "n <= ");
}

}  // namespace
}  // namespace bandana
