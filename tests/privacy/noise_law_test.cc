#include "bandana/privacy/noise_law.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace bandana {
namespace {

TEST(NoiseLawTest, NoNoiseIsNothing) {
  const NoiseLaw none;
  EXPECT_EQ(none.stddev(), 0);
  EXPECT_EQ(none.LogMoment(1e9), 0);
}

TEST(NoiseLawTest, VariancesAdd) {
  EXPECT_EQ((NoiseLaw{.proxy = 3}).stddev(), 3);
  EXPECT_NEAR((NoiseLaw{.laplace_scale = 3, .laplace_terms = 1}).stddev(), std::sqrt(18), 1e-12);
  EXPECT_NEAR((NoiseLaw{.proxy = 1, .laplace_scale = 2, .laplace_terms = 10}).stddev(), 9, 1e-12);
  EXPECT_EQ((NoiseLaw{.proxy = 3, .laplace_scale = 2}).stddev(), 3) << "no terms, no Laplace noise";
}

// Compares with the integral of the density.
TEST(NoiseLawTest, LaplaceMomentsAreThoseOfTheDensity) {
  const double scale = 0.7;
  const NoiseLaw one{.laplace_scale = scale, .laplace_terms = 1};
  for (const double t : {-1.2, -0.3, 0.01, 0.5, 1.0, 1.3}) {
    double moment = 0;
    constexpr double kStep = 1e-3;
    for (double x = -400 + kStep / 2; x < 400; x += kStep) {
      moment += std::exp(t * x - std::abs(x) / scale) / (2 * scale) * kStep;
    }
    EXPECT_NEAR(one.LogMoment(t), std::log(moment), 1e-5) << t;
    EXPECT_NEAR((NoiseLaw{.laplace_scale = scale, .laplace_terms = 7}).LogMoment(t), 7 * std::log(moment),
                1e-4);
  }
}

TEST(NoiseLawTest, BeyondTheScaleThereIsNoMoment) {
  const NoiseLaw law{.proxy = 1, .laplace_scale = 0.5, .laplace_terms = 2};
  EXPECT_TRUE(std::isfinite(law.LogMoment(1.999)));
  for (const double t : {2.0, -2.0, 3.0, 1e300}) EXPECT_TRUE(std::isinf(law.LogMoment(t))) << t;
  EXPECT_TRUE(std::isinf(law.LogMoment(std::nan(""))) || std::isnan(law.LogMoment(std::nan(""))));
}

// Checks the lemma of docs/proofs/central-laplace.md on the discrete law itself.
TEST(NoiseLawTest, DiscreteLaplaceMomentsAreBelow) {
  for (const double scale : {1.0, 2.0, 5.0, 50.0}) {
    const NoiseLaw law{.laplace_scale = scale, .laplace_terms = 1};
    for (const double part : {0.1, 0.5, 0.9, 0.99}) {
      const double t = part / scale;
      double moment = 0;
      double variance = 0;
      for (int k = -200'000; k <= 200'000; ++k) {
        const double mass = std::tanh(0.5 / scale) * std::exp(-std::abs(k) / scale);
        moment += std::tanh(0.5 / scale) * std::exp(t * k - std::abs(k) / scale);
        variance += mass * k * k;
      }
      EXPECT_LE(std::log(moment), law.LogMoment(t) + 1e-9) << scale << " " << part;
      EXPECT_LE(variance, law.stddev() * law.stddev());
      const double closed = 1 / (1 - std::pow(std::sinh(t / 2) / std::sinh(0.5 / scale), 2));
      EXPECT_NEAR(moment / closed, 1, 1e-9);
    }
  }
}

}  // namespace
}  // namespace bandana
