#include "bandana/privacy/samplers/fast_noise.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

#include "bandana/core/distributions.h"
#include "bandana/privacy/samplers/discrete_laplace.h"
#include "bandana/privacy/samplers/rounded_normal.h"
#include "gtest/gtest.h"
#include "tests/support.h"

// Seeds are fixed, except where the operating system supplies the bits. Each comparison has a false-alarm
// rate of 1e-6 over seeds, or 1e-9 with the system's bits, and there are about 20. Planted violations must
// fail the same comparisons.
namespace bandana {
namespace {

using test::FitsCdf;
using test::Noise;
using test::SameLaw;

constexpr int kDraws = 200'000;
constexpr std::uint64_t kUnit = std::uint64_t{1} << 40;

// Fill `out` with single draws.
void FillStandardNormal(std::span<double> out, NoiseGen& gen) {
  for (double& x : out) x = StandardNormal(gen);
}
void FillStandardLaplace(std::span<double> out, NoiseGen& gen) {
  for (double& x : out) x = StandardLaplace(gen);
}

double NormalCdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }
double LaplaceCdf(double x) { return x < 0 ? std::exp(x) / 2 : 1 - std::exp(-x) / 2; }

std::vector<double> Times(double factor, std::vector<double> sample) {
  for (double& x : sample) x *= factor;
  return sample;
}

TEST(FastNoiseTest, NormalsHaveTheLawOfTheExactOnes) {
  Noise noise(1);
  std::vector<double> fast(kDraws), exact(kDraws);
  FillStandardNormal(fast, noise.gen);
  for (double& x : exact) x = (static_cast<double>(RoundedNormal(kUnit, noise.gen)) + 0.5) / kUnit;
  EXPECT_TRUE(SameLaw(fast, exact));
  EXPECT_TRUE(FitsCdf(fast, NormalCdf));
  EXPECT_FALSE(SameLaw(Times(1.05, fast), exact));
}

TEST(FastNoiseTest, LaplacesHaveTheLawOfTheExactOnes) {
  Noise noise(2);
  std::vector<double> fast(kDraws), exact(kDraws);
  FillStandardLaplace(fast, noise.gen);
  for (double& x : exact) x = static_cast<double>(DiscreteLaplace({kUnit, 1}, noise.gen)) / kUnit;
  EXPECT_TRUE(SameLaw(fast, exact));
  EXPECT_TRUE(FitsCdf(fast, LaplaceCdf));
  EXPECT_FALSE(SameLaw(Times(1.05, fast), exact));
}

TEST(FastNoiseTest, SecureBitsWillDoToo) {
  SecureSource source;
  NoiseGen gen = NoiseDoor::Open(source);
  std::vector<double> sample(kDraws);
  FillStandardNormal(sample, gen);
  EXPECT_TRUE(FitsCdf(sample, NormalCdf, 1e-9));
  FillStandardLaplace(sample, gen);
  EXPECT_TRUE(FitsCdf(sample, LaplaceCdf, 1e-9));
}

TEST(FastNoiseTest, NeighboursAreIndependent) {
  Noise noise(3);
  std::vector<double> normals(kDraws), sums(kDraws / 2), differences(kDraws / 2);
  FillStandardNormal(normals, noise.gen);
  for (int i = 0; i < kDraws / 2; ++i) {
    sums[i] = (normals[2 * i] + normals[2 * i + 1]) / std::numbers::sqrt2;
    differences[i] = (normals[2 * i] - normals[(2 * i + 257) % kDraws]) / std::numbers::sqrt2;
  }
  EXPECT_TRUE(FitsCdf(sums, NormalCdf));
  EXPECT_TRUE(FitsCdf(differences, NormalCdf));
}

TEST(FastNoiseTest, SumsOfLaplacesHaveTheLawOfExactSums) {
  Noise noise(5);
  for (const int n : {1, 2, 3, 10, 50}) {
    std::vector<double> fast(20'000), exact(20'000);
    for (double& x : fast) x = SumOfLaplace(n, noise.gen);
    for (double& x : exact) {
      for (int i = 0; i < n; ++i) x += static_cast<double>(DiscreteLaplace({kUnit, 1}, noise.gen)) / kUnit;
    }
    EXPECT_TRUE(SameLaw(fast, exact)) << n;
    EXPECT_FALSE(SameLaw(Times(1.2, fast), exact)) << n;
  }
}

TEST(FastNoiseTest, SumsOfManyLaplacesAreNormal) {
  Noise noise(6);
  for (const std::uint64_t n : {std::uint64_t{1} << 30, std::uint64_t{1} << 62}) {
    std::vector<double> sample(50'000);
    for (double& x : sample) x = SumOfLaplace(n, noise.gen) / std::sqrt(2 * static_cast<double>(n));
    EXPECT_TRUE(FitsCdf(sample, NormalCdf)) << n;
    EXPECT_FALSE(FitsCdf(Times(1.06, sample), NormalCdf)) << n;
  }
  EXPECT_EQ(SumOfLaplace(0, noise.gen), 0);
}

// Returns the FNV-1a hash over the bits of the numbers.
std::uint64_t Fingerprint(const std::vector<double>& numbers) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const double x : numbers) hash = (hash ^ std::bit_cast<std::uint64_t>(x)) * 0x100000001b3;
  return hash;
}

// A run must give the same noise on every machine and in every version. The sample has a thousand draws on
// the rare paths, some tens of them in the tails.
TEST(FastNoiseTest, IsAFunctionOfItsKey) {
  Noise noise(7);
  std::vector<double> sample(100'000);
  FillStandardNormal(sample, noise.gen);
  EXPECT_EQ(Fingerprint(sample), 3447690608126210246u);
  FillStandardLaplace(sample, noise.gen);
  EXPECT_EQ(Fingerprint(sample), 10409818975780373181u);
  for (double& x : sample) x = SumOfLaplace(10, noise.gen);
  EXPECT_EQ(Fingerprint(sample), 7355363925333760559u);
}

TEST(FastNoiseDeathTest, BadArgumentsEndTheProgram) {
  Noise noise(8);
  EXPECT_DEATH(SumOfLaplace(std::numeric_limits<std::uint64_t>::max(), noise.gen), "shape");
}

}  // namespace
}  // namespace bandana
