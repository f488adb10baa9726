#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "bandana/core/distributions.h"
#include "bandana/privacy/samplers/discrete_gaussian.h"
#include "bandana/privacy/samplers/discrete_laplace.h"
#include "bandana/privacy/samplers/exact_binomial.h"
#include "bandana/privacy/samplers/fast_noise.h"
#include "bandana/privacy/samplers/rounded_normal.h"
#include "tests/support.h"

// Repeats the checks of the samplers' unit tests with enough draws to see faults of a few tenths of a per
// cent, and such faults are planted. Seeds are fixed; each of about 20 comparisons has a false-alarm rate of
// 1e-6.
namespace bandana {
namespace {

using test::Noise;

constexpr int kDraws = 4'000'000;

/// Returns whether draws fit the masses of {-reach, ..., reach}; draws beyond count at the ends.
bool Fits(const std::vector<double>& masses, absl::FunctionRef<std::int64_t()> draw) {
  const auto reach = static_cast<std::int64_t>(masses.size() / 2);
  std::vector<double> counts(masses.size());
  for (int i = 0; i < kDraws; ++i) counts[std::clamp(draw(), -reach, reach) + reach] += 1;
  return test::FitsMasses(counts, masses);
}

std::vector<double> Masses(int reach, absl::FunctionRef<double(double)> weight) {
  std::vector<double> masses(2 * reach + 1);
  double sum = 0;
  for (int x = -reach; x <= reach; ++x) sum += masses[x + reach] = weight(x);
  for (double& mass : masses) mass /= sum;
  return masses;
}

TEST(SlowSamplerTest, DiscreteGaussiansHaveTheLaw) {
  Noise noise(1);
  for (const double s : {0.75, 4.0}) {
    const auto masses = Masses(50, [&](double x) { return std::exp(-x * x / (2 * s * s)); });
    const Rational stddev{static_cast<std::uint64_t>(4 * s), 4};
    const Rational variance{static_cast<std::uint64_t>(16 * s * s), 16};
    EXPECT_TRUE(Fits(masses, [&] { return DiscreteGaussian(stddev, noise.gen); })) << s;
    EXPECT_TRUE(Fits(masses, [&] { return internal::DiscreteGaussianByDigits<8>(stddev, noise.gen); })) << s;
    EXPECT_TRUE(Fits(masses, [&] { return DiscreteGaussianOfVariance(variance, noise.gen); })) << s;
    const Rational off{variance.num * 129, variance.den * 128};
    EXPECT_FALSE(Fits(masses, [&] { return DiscreteGaussianOfVariance(off, noise.gen); })) << s;
  }
}

TEST(SlowSamplerTest, DiscreteLaplacesHaveTheLaw) {
  Noise noise(2);
  for (const double t : {0.75, 4.0}) {
    const auto masses = Masses(200, [&](double x) { return std::exp(-std::abs(x) / t); });
    const Rational scale{static_cast<std::uint64_t>(4 * t), 4};
    EXPECT_TRUE(Fits(masses, [&] { return DiscreteLaplace(scale, noise.gen); })) << t;
    EXPECT_FALSE(Fits(masses, [&] { return DiscreteLaplace({scale.num * 129, scale.den * 128}, noise.gen); }))
        << t;
  }
}

// The correction that turns a Gaussian into a binomial is small, and the test must see its absence.
TEST(SlowSamplerTest, BinomialsHaveTheLaw) {
  constexpr int kTrials = 40;
  Noise noise(3);
  std::vector<double> masses(2 * kTrials + 1);
  const boost::math::binomial law(kTrials, 0.5);
  for (int k = 0; k <= kTrials; ++k) masses[kTrials / 2 + k] = pdf(law, k);
  const auto shifted = [&](std::uint64_t successes) {
    return static_cast<std::int64_t>(successes) - kTrials / 2;
  };
  EXPECT_TRUE(Fits(masses, [&] { return shifted(internal::BinomialByCounting(kTrials, noise.gen)); }));
  EXPECT_TRUE(Fits(masses, [&] { return shifted(internal::BinomialByRejection(kTrials, noise.gen)); }));
  EXPECT_TRUE(Fits(masses, [&] { return shifted(ExactBinomial(kTrials, {1, 2}, noise.gen)); }));
  EXPECT_FALSE(Fits(masses, [&] { return DiscreteGaussianOfVariance({kTrials + 1, 4}, noise.gen); }));
  EXPECT_FALSE(Fits(masses, [&] { return shifted(ExactBinomial(kTrials, {511, 1024}, noise.gen)); }));
}

TEST(SlowSamplerTest, FastNoiseHasTheLawOfItsExactTwin) {
  constexpr std::uint64_t kUnit = std::uint64_t{1} << 40;
  Noise noise(4);
  std::vector<double> fast(kDraws), exact(kDraws);
  const auto expect_same = [&](const char* name) {
    EXPECT_TRUE(test::SameLaw(fast, exact)) << name;
    for (double& x : fast) x *= 1.02;
    EXPECT_FALSE(test::SameLaw(fast, exact)) << name;
  };
  for (double& x : fast) x = StandardNormal(noise.gen);
  for (double& x : exact) x = (static_cast<double>(RoundedNormal(kUnit, noise.gen)) + 0.5) / kUnit;
  expect_same("normal");
  for (double& x : fast) x = StandardLaplace(noise.gen);
  for (double& x : exact) x = static_cast<double>(DiscreteLaplace({kUnit, 1}, noise.gen)) / kUnit;
  expect_same("Laplace");
  for (double& x : fast) x = SumOfLaplace(3, noise.gen);
  for (double& x : exact) {
    x = 0;
    for (int i = 0; i < 3; ++i) x += static_cast<double>(DiscreteLaplace({kUnit, 1}, noise.gen)) / kUnit;
  }
  expect_same("sum of three");
}

}  // namespace
}  // namespace bandana
