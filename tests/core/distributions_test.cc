#include "bandana/core/distributions.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/poisson.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <tuple>
#include <vector>

#include "absl/functional/function_ref.h"
#include "bandana/core/generators.h"
#include "bandana/core/noise_door.h"
#include "gtest/gtest.h"

// Seeds are fixed. Each comparison has a false-alarm rate of 1e-6 over seeds, and there are about 40. Planted
// violations must fail the same comparisons.
namespace bandana {
namespace {

constexpr double kFalseAlarm = 1e-6;

StreamKey TestKey(std::uint64_t seed) {
  StreamKey key;
  key.seed = seed;
  return key;
}

struct Coin {
  explicit Coin(std::uint64_t seed) : source(TestKey(seed)), gen(source) {}
  PhiloxSource source;
  CoinGen gen;
};

double NormalCdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

// Returns whether the sample passes the Kolmogorov-Smirnov test against the continuous law `cdf`.
bool LooksLike(std::vector<double> sample, absl::FunctionRef<double(double)> cdf) {
  std::sort(sample.begin(), sample.end());
  const double n = static_cast<double>(sample.size());
  double distance = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double below = static_cast<double>(i);
    const double f = cdf(sample[i]);
    distance = std::max({distance, f - below / n, (below + 1) / n - f});
  }
  return std::sqrt(n) * distance < std::sqrt(0.5 * std::log(2 / kFalseAlarm));
}

// Returns whether counts pass Pearson's chi-squared test. It joins neighbouring cells until each expects at
// least 25 draws.
bool LooksLike(const std::vector<double>& counts, const std::vector<double>& masses) {
  double total = 0;
  for (const double count : counts) total += count;
  double statistic = 0, seen = 0, expected = 0, rest_seen = total, rest_expected = total;
  int cells = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    seen += counts[i];
    expected += total * masses[i];
    if (expected < 25 || rest_expected - expected < 25) continue;
    statistic += (seen - expected) * (seen - expected) / expected;
    rest_seen -= seen;
    rest_expected -= expected;
    seen = expected = 0;
    ++cells;
  }
  statistic += (rest_seen - rest_expected) * (rest_seen - rest_expected) / rest_expected;
  return boost::math::cdf(complement(boost::math::chi_squared(cells), statistic)) > kFalseAlarm;
}

std::vector<double> Sample(int n, absl::FunctionRef<double()> draw) {
  std::vector<double> sample(n);
  for (double& x : sample) x = draw();
  return sample;
}

std::vector<double> Counts(int n, std::size_t cells, absl::FunctionRef<std::int64_t()> draw) {
  std::vector<double> counts(cells);
  for (int i = 0; i < n; ++i) counts.at(static_cast<std::size_t>(draw())) += 1;
  return counts;
}

TEST(UniformUnitTest, IsUniform) {
  Coin coin(1);
  const auto sample = Sample(200'000, [&] { return UniformUnit(coin.gen); });
  EXPECT_GE(*std::min_element(sample.begin(), sample.end()), 0);
  EXPECT_LT(*std::max_element(sample.begin(), sample.end()), 1);
  EXPECT_TRUE(LooksLike(sample, [](double x) { return x; }));
  EXPECT_FALSE(LooksLike(sample, [](double x) { return std::pow(x, 1.02); }));
}

TEST(UniformBelowTest, IsUniform) {
  Coin coin(2);
  EXPECT_EQ(UniformBelow(1, coin.gen), 0);
  for (const std::size_t n : {2, 7, 100}) {
    const auto counts = Counts(200'000, n, [&] { return UniformBelow(n, coin.gen); });
    EXPECT_TRUE(LooksLike(counts, std::vector<double>(n, 1.0 / static_cast<double>(n)))) << n;
  }
}

// At n = 3/4 of 2^64 a draw without rejection would give the multiples of 3 twice as often as other numbers.
TEST(UniformBelowTest, HasNoBiasWhereMultiplicationAloneHasTheMost) {
  Coin coin(3);
  constexpr std::uint64_t kN = std::uint64_t{3} << 62;
  const std::vector<double> thirds(3, 1.0 / 3);
  EXPECT_TRUE(LooksLike(Counts(100'000, 3, [&] { return UniformBelow(kN, coin.gen) % 3; }), thirds));
  const auto biased = [&] {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(coin.gen()) * kN) >> 64) % 3;
  };
  EXPECT_FALSE(LooksLike(Counts(100'000, 3, biased), thirds));
}

TEST(StandardNormalTest, LayersHaveEqualAreas) {
  const internal::ZigguratTable& table = internal::kZiggurat;
  const double tail = std::sqrt(std::numbers::pi / 2) * std::erfc(table.x[1] / std::numbers::sqrt2);
  const double area = table.x[1] * table.y[1] + tail;
  EXPECT_NEAR(table.x[0] * table.y[1], area, 1e-15 * area);
  for (int i = 1; i < 256; ++i) {
    EXPECT_NEAR(table.x[i] * (table.y[i + 1] - table.y[i]), area, 1e-13 * area) << i;
    EXPECT_NEAR(table.y[i], std::exp(-0.5 * table.x[i] * table.x[i]), 1e-15) << i;
  }
}

TEST(StandardNormalTest, IsNormal) {
  Coin coin(4);
  EXPECT_TRUE(LooksLike(Sample(1'000'000, [&] { return StandardNormal(coin.gen); }), NormalCdf));
  EXPECT_FALSE(LooksLike(Sample(1'000'000, [&] { return 1.02 * StandardNormal(coin.gen); }), NormalCdf));
}

TEST(StandardNormalTest, IsNormalFromNoiseToo) {
  PhiloxSource source(TestKey(5));
  NoiseGen gen = NoiseDoor::Open(source);
  EXPECT_TRUE(LooksLike(Sample(200'000, [&] { return StandardNormal(gen); }), NormalCdf));
}

// The cells are quarters of a standard deviation, on both sides of the start of the ziggurat's tail.
TEST(StandardNormalTest, HasTheRightTails) {
  std::vector<double> masses(28);
  double rest = 1;
  for (int i = 0; i < 27; ++i) {
    masses[i] = std::erfc(0.25 * i / std::numbers::sqrt2) - std::erfc(0.25 * (i + 1) / std::numbers::sqrt2);
    rest -= masses[i];
  }
  masses[27] = std::max(rest, 0.0);
  const auto cell = [](double x) {
    return std::min<std::int64_t>(static_cast<std::int64_t>(std::abs(x) / 0.25), 27);
  };
  Coin coin(6);
  EXPECT_TRUE(LooksLike(Counts(10'000'000, 28, [&] { return cell(StandardNormal(coin.gen)); }), masses));
  const auto without_tail = [&] {
    double x = StandardNormal(coin.gen);
    while (std::abs(x) > internal::kZiggurat.x[1]) x = StandardNormal(coin.gen);
    return cell(x);
  };
  EXPECT_FALSE(LooksLike(Counts(10'000'000, 28, without_tail), masses));
}

TEST(StandardNormalTest, TailHasTheConditionalLaw) {
  const double start = internal::kZiggurat.x[1];
  const auto cdf = [&](double x) {
    return 1 - std::erfc(x / std::numbers::sqrt2) / std::erfc(start / std::numbers::sqrt2);
  };
  Coin coin(7);
  EXPECT_TRUE(LooksLike(Sample(200'000, [&] { return internal::NormalTail(coin.gen); }), cdf));
  const auto exponential = [&] { return start - std::log1p(-UniformUnit(coin.gen)) / start; };
  EXPECT_FALSE(LooksLike(Sample(200'000, exponential), cdf));
}

double LaplaceCdf(double x) { return x < 0 ? 0.5 * std::exp(x) : 1 - 0.5 * std::exp(-x); }

TEST(StandardLaplaceTest, LayersHaveEqualAreas) {
  const internal::ZigguratTable& table = internal::kLaplaceZiggurat;
  const double area = (table.x[1] + 1) * std::exp(-table.x[1]);
  EXPECT_NEAR(table.x[0] * table.y[1], area, 1e-15 * area);
  for (int i = 1; i < 256; ++i) {
    EXPECT_NEAR(table.x[i] * (table.y[i + 1] - table.y[i]), area, 1e-12 * area) << i;
    EXPECT_NEAR(table.y[i], std::exp(-table.x[i]), 1e-15) << i;
  }
}

TEST(StandardLaplaceTest, IsLaplace) {
  Coin coin(30);
  EXPECT_TRUE(LooksLike(Sample(1'000'000, [&] { return StandardLaplace(coin.gen); }), LaplaceCdf));
  EXPECT_FALSE(LooksLike(Sample(1'000'000, [&] { return 1.02 * StandardLaplace(coin.gen); }), LaplaceCdf));
}

// The cells are halves, on both sides of the start of the tail at 7.7; one draw in 2200 is beyond it.
TEST(StandardLaplaceTest, HasTheRightTails) {
  std::vector<double> masses(31);
  for (int i = 0; i < 30; ++i) masses[i] = std::exp(-0.5 * i) - std::exp(-0.5 * (i + 1));
  masses[30] = std::exp(-15.0);
  const auto cell = [](double x) {
    return std::min<std::int64_t>(static_cast<std::int64_t>(std::abs(x) / 0.5), 30);
  };
  Coin coin(31);
  EXPECT_TRUE(LooksLike(Counts(5'000'000, 31, [&] { return cell(StandardLaplace(coin.gen)); }), masses));
  const auto without_tail = [&] {
    double x = StandardLaplace(coin.gen);
    while (std::abs(x) > internal::kLaplaceZiggurat.x[1]) x = StandardLaplace(coin.gen);
    return cell(x);
  };
  EXPECT_FALSE(LooksLike(Counts(5'000'000, 31, without_tail), masses));
}

std::vector<double> BinomialMasses(int n, double p) {
  std::vector<double> masses(n + 1);
  for (int k = 0; k <= n; ++k) masses[k] = boost::math::pdf(boost::math::binomial(n, p), k);
  return masses;
}

TEST(BinomialTest, HasTheRightMasses) {
  struct Case {
    int n;
    double p;
  };
  const Case cases[] = {{1, 0.5},    {1, 0.01},   {5, 0.9},      {19, 0.5},      {20, 0.5},
                        {21, 0.5},   {20, 0.3},   {100, 0.1},    {101, 0.1},     {100, 0.93},
                        {100, 0.42}, {1000, 0.3}, {3000, 0.999}, {100'000, 2e-4}};
  Coin coin(8);
  for (const auto& [n, p] : cases) {
    const auto counts = Counts(200'000, n + 1, [&] { return Binomial(n, p, coin.gen); });
    EXPECT_TRUE(LooksLike(counts, BinomialMasses(n, p))) << n << " " << p;
  }
}

TEST(BinomialTest, ASmallErrorInPIsSeen) {
  Coin coin(9);
  for (const auto& [n, p, wrong] : {std::tuple{20, 0.3, 0.305}, {100, 0.42, 0.423}, {1000, 0.7, 0.701}}) {
    const auto counts = Counts(200'000, n + 1, [&] { return Binomial(n, wrong, coin.gen); });
    EXPECT_FALSE(LooksLike(counts, BinomialMasses(n, p))) << n;
  }
}

constexpr std::int64_t kHuge = std::int64_t{1} << 62;

TEST(BinomialTest, IsPoissonForHugeNAndTinyP) {
  for (const double mean : {0.5, 8.0, 40.0}) {
    std::vector<double> masses(200);
    for (int k = 0; k < 200; ++k) masses[k] = boost::math::pdf(boost::math::poisson(mean), k);
    Coin coin(10);
    const double p = mean / static_cast<double>(kHuge);
    const auto counts = Counts(200'000, 200, [&] { return Binomial(kHuge, p, coin.gen); });
    EXPECT_TRUE(LooksLike(counts, masses)) << mean;
  }
}

TEST(BinomialTest, IsNormalForHugeN) {
  Coin coin(11);
  const double stddev = std::sqrt(static_cast<double>(kHuge) * 0.25 * 0.75);
  for (const double p : {0.25, 0.75}) {
    const auto mean = static_cast<std::int64_t>(static_cast<double>(kHuge) * p);
    const auto standardised = [&] {
      return static_cast<double>(Binomial(kHuge, p, coin.gen) - mean) / stddev;
    };
    EXPECT_TRUE(LooksLike(Sample(200'000, standardised), NormalCdf));
    EXPECT_FALSE(LooksLike(Sample(200'000, [&] { return 1.05 * standardised(); }), NormalCdf));
  }
}

TEST(BinomialTest, LowBitsAreUniformForHugeN) {
  Coin coin(12);
  const auto counts = Counts(200'000, 64, [&] { return Binomial(kHuge, 0.3, coin.gen) % 64; });
  EXPECT_TRUE(LooksLike(counts, std::vector<double>(64, 1.0 / 64)));
}

TEST(BinomialTest, LogPmfDoesNotCancelForHugeN) {
  using Real = boost::multiprecision::cpp_bin_float_100;
  const auto log_pmf = [](std::int64_t n, const Real& p, std::int64_t k) {
    const auto log_factorial = [](std::int64_t x) { return boost::math::lgamma(Real(x) + 1); };
    return Real(log_factorial(n) - log_factorial(k) - log_factorial(n - k) + k * log(p) +
                (n - k) * log(1 - p));
  };
  for (const std::int64_t n : {std::int64_t{50}, std::int64_t{1} << 20, std::int64_t{1} << 40, kHuge}) {
    for (const double p : {0.5, 0.3, 0.2000000001}) {
      const internal::BinomialRejection rejection(n, p);
      const double stddev = std::sqrt(static_cast<double>(n) * p * (1 - p));
      for (const double deviations : {-5.0, -1.0, 0.0, 0.1, 3.0}) {
        const double step = std::max(std::floor(deviations * stddev), -static_cast<double>(rejection.mode()));
        const auto exact =
            static_cast<double>(log_pmf(n, p, rejection.mode() + static_cast<std::int64_t>(step)));
        EXPECT_NEAR(rejection.LogPmf(step), exact, 3e-14) << n << " " << p << " " << deviations;
      }
    }
  }
}

TEST(BinomialTest, EdgesAreCertain) {
  Coin coin(13);
  EXPECT_EQ(Binomial(0, 0.3, coin.gen), 0);
  for (const std::int64_t n : {std::int64_t{1}, std::int64_t{1000}, kHuge}) {
    EXPECT_EQ(Binomial(n, 0.0, coin.gen), 0);
    EXPECT_EQ(Binomial(n, 1.0, coin.gen), n);
    EXPECT_EQ(Binomial(n, std::numeric_limits<double>::denorm_min(), coin.gen), 0);
  }
}

TEST(DistributionsDeathTest, BadArgumentsEndTheProgram) {
  Coin coin(14);
  EXPECT_DEATH(UniformBelow(0, coin.gen), "n > 0");
  EXPECT_DEATH(Binomial(-1, 0.5, coin.gen), "n >= 0");
  EXPECT_DEATH(Binomial(kHuge + 1, 0.5, coin.gen), "62");
  EXPECT_DEATH(Binomial(1, std::nan(""), coin.gen), "p >= 0");
  EXPECT_DEATH(Binomial(1, 1.5, coin.gen), "p <= 1");
}

}  // namespace
}  // namespace bandana
