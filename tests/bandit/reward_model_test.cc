#include "bandana/bandit/reward_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include "tests/support.h"

// Seeds are fixed. Laws are compared with the Kolmogorov-Smirnov test at 1e-6, moments at five standard
// deviations (6e-7), in about 100 comparisons. The same comparisons must see the planted deviations.
namespace bandana {
namespace {

constexpr RewardModel kGaussian{RewardKind::kGaussian, 0.7};
constexpr RewardModel kRademacher{RewardKind::kRademacher};
constexpr RewardModel kBernoulli{RewardKind::kBernoulli};
constexpr RewardModel kUniform{RewardKind::kUniform};
constexpr int kDraws = 20'000;

struct Case {
  const char* name;
  RewardModel model;
  std::vector<double> means;
  double (*variance)(double mean);
};

std::vector<Case> Cases() {
  return {
      {"gaussian", kGaussian, {-3, 0, 0.4}, [](double) { return 0.49; }},
      {"rademacher", kRademacher, {-1, -0.6, 0, 0.3, 0.99, 1}, [](double mean) { return 1 - mean * mean; }},
      {"bernoulli", kBernoulli, {0, 0.01, 0.5, 0.8, 1}, [](double mean) { return mean * (1 - mean); }},
      {"uniform",
       kUniform,
       {-1, -0.6, 0, 0.25, 0.9, 1},
       // The variance of a uniform law on 2^16 points, half a step from the ends.
       [](double mean) { return std::pow(1 - std::abs(mean), 2) * (1 - 0x1p-32) / 3; }},
  };
}

std::vector<double> Sums(const RewardModel& model, double mean, Count count, std::uint64_t seed) {
  test::Coins coins(seed);
  std::vector<double> sums(kDraws);
  for (double& sum : sums) sum = model.DrawSum(mean, count, coins.gen);
  return sums;
}

std::vector<double> SumsByPulls(const RewardModel& model, double mean, Count count, std::uint64_t seed) {
  test::Coins coins(seed);
  std::vector<double> sums(kDraws);
  for (double& sum : sums) {
    for (Count i = 0; i < count; ++i) sum += model.Draw(mean, coins.gen);
  }
  return sums;
}

bool HasMoments(const std::vector<double>& sums, double mean, double variance) {
  const test::Moments moments = test::MomentsOf(sums);
  const auto n = static_cast<double>(sums.size());
  double fourth = 0;
  for (const double x : sums) fourth += std::pow(x - mean, 4) / n;
  const double spread =
      std::sqrt(std::max(fourth - variance * variance, 0.0) / n);  // the variance's standard error
  const double rounding = 1e-9 * (1 + std::abs(mean));
  return std::abs(moments.mean - mean) <= 5 * std::sqrt(variance / n) + rounding &&
         std::abs(moments.variance - variance) <= 5 * spread + 5 * variance / n + rounding * rounding;
}

TEST(RewardModelTest, SupportsMeansAndProxies) {
  EXPECT_FALSE(kGaussian.support().has_value());
  EXPECT_EQ(kRademacher.support(), (Interval{-1, 1}));
  EXPECT_EQ(kBernoulli.support(), (Interval{0, 1}));
  EXPECT_EQ(kUniform.support(), (Interval{-1, 1}));
  EXPECT_TRUE(std::isinf(kGaussian.means().low) && std::isinf(kGaussian.means().high));
  EXPECT_EQ(kRademacher.means(), (Interval{-1, 1}));
  EXPECT_EQ(kBernoulli.means(), (Interval{0, 1}));
  EXPECT_EQ(kUniform.means(), (Interval{-1, 1}));
  EXPECT_EQ(kGaussian.proxy(), 0.7);
}

TEST(RewardModelTest, SingleRewardsHaveTheLawsMomentsAndSupport) {
  std::uint64_t seed = 100;
  for (const Case& law : Cases()) {
    for (const double mean : law.means) {
      const std::vector<double> rewards = SumsByPulls(law.model, mean, 1, ++seed);
      EXPECT_TRUE(HasMoments(rewards, mean, law.variance(mean))) << law.name << " " << mean;
      if (const auto support = law.model.support()) {
        const auto [least, most] = std::minmax_element(rewards.begin(), rewards.end());
        EXPECT_GE(*least, support->low) << law.name << " " << mean;
        EXPECT_LE(*most, support->high) << law.name << " " << mean;
      }
    }
  }
}

TEST(RewardModelTest, SumsHaveTheLawsMoments) {
  std::uint64_t seed = 200;
  for (const Case& law : Cases()) {
    for (const double mean : law.means) {
      for (const Count count : {Count{1}, Count{5}, Count{1000}, Count{1'000'000'000}}) {
        const std::vector<double> sums = Sums(law.model, mean, count, ++seed);
        const auto n = static_cast<double>(count);
        EXPECT_TRUE(HasMoments(sums, n * mean, n * law.variance(mean)))
            << law.name << " " << mean << " " << count;
        if (const auto support = law.model.support()) {
          const auto [least, most] = std::minmax_element(sums.begin(), sums.end());
          EXPECT_GE(*least, n * support->low) << law.name << " " << mean << " " << count;
          EXPECT_LE(*most, n * support->high) << law.name << " " << mean << " " << count;
        }
      }
    }
  }
}

TEST(RewardModelTest, WrongMomentsAreSeen) {
  EXPECT_FALSE(HasMoments(Sums(kGaussian, 0.4, 5, 300), 5 * 0.4, 5 * 0.49 * 1.1));
  EXPECT_FALSE(HasMoments(Sums(kUniform, 0.25, 5, 301), 5 * 0.25, 5 * 0.75 * 0.75 / 3 * 1.1));
  EXPECT_FALSE(HasMoments(Sums(kBernoulli, 0.5, 1000, 302), 501, 250));
}

TEST(RewardModelTest, SumsHaveTheLawOfSinglePulls) {
  std::uint64_t seed = 400;
  for (const Case& law : Cases()) {
    for (const double mean : law.means) {
      for (const Count count : {1, 2, 3, 7, 40, 150}) {
        if (law.variance(mean) == 0) {
          EXPECT_EQ(Sums(law.model, mean, count, seed), SumsByPulls(law.model, mean, count, seed));
          continue;
        }
        // The order of summation changes the last bits of a sum of doubles, so the laws are compared on a
        // coarser grid.
        const auto rounded = [](std::vector<double> sums) {
          for (double& sum : sums) sum = std::nearbyint(sum * 0x1p30) * 0x1p-30;
          return sums;
        };
        const auto at_once = rounded(Sums(law.model, mean, count, ++seed));
        const auto by_pulls = rounded(SumsByPulls(law.model, mean, count, ++seed));
        EXPECT_TRUE(test::SameLaw(at_once, by_pulls)) << law.name << " " << mean << " " << count;
      }
    }
  }
}

TEST(RewardModelTest, OtherLawsOfSumsAreSeen) {
  const auto by_pulls = [](const RewardModel& model, double mean) {
    return SumsByPulls(model, mean, 40, 500);
  };
  const RewardModel wider{RewardKind::kGaussian, 0.7 * 1.2};
  EXPECT_FALSE(test::SameLaw(by_pulls(kGaussian, 0.4), Sums(wider, 0.4, 40, 501)));
  EXPECT_FALSE(test::SameLaw(by_pulls(kGaussian, 0.4), Sums(kGaussian, 0.4, 41, 501)));
  EXPECT_FALSE(test::SameLaw(by_pulls(kRademacher, 0.3), Sums(kRademacher, 0.33, 40, 501)));
  EXPECT_FALSE(test::SameLaw(by_pulls(kBernoulli, 0.5), Sums(kBernoulli, 0.52, 40, 501)));
  EXPECT_FALSE(test::SameLaw(by_pulls(kUniform, 0), Sums(kRademacher, 0, 40, 501)));
  // This law has the right moments and the wrong shape: one scaled uniform is not a sum of three.
  std::vector<double> scaled = Sums(kUniform, 0, 1, 502);
  for (double& sum : scaled) sum *= std::numbers::sqrt3;
  EXPECT_FALSE(test::SameLaw(SumsByPulls(kUniform, 0, 3, 503), scaled));
}

// Signs and coins are counted, so their sums are whole numbers with the right parity.
TEST(RewardModelTest, SumsOfSignsAndCoinsAreWhole) {
  for (const Count count : {Count{1}, Count{10}, Count{999'999'999}}) {
    for (const double sum : Sums(kRademacher, 0.3, count, 600)) {
      ASSERT_EQ(std::fmod(sum - static_cast<double>(count), 2), 0) << count;
    }
    for (const double sum : Sums(kBernoulli, 0.3, count, 601)) ASSERT_EQ(sum, std::floor(sum)) << count;
  }
}

// V is an odd multiple of 2^-16, so a sum of n of them has the parity of n on that grid.
TEST(RewardModelTest, UniformSumsAreExactlyOnTheGrid) {
  for (const Count count : {Count{1}, Count{2}, Count{7}, Count{1'000'000'000}}) {
    for (const double sum : Sums(kUniform, 0, count, 602)) {
      const double steps = sum * 0x1p16;
      ASSERT_EQ(steps, std::floor(steps)) << count;
      ASSERT_EQ(std::fmod(steps - static_cast<double>(count), 2), 0) << count;
    }
  }
  for (const double reward : SumsByPulls(kUniform, 0, 1, 603)) {
    ASSERT_EQ(std::fmod(reward * 0x1p16 - 1, 2), 0);
    ASSERT_LT(std::abs(reward), 1);
  }
}

TEST(RewardModelTest, AUniformRewardFillsItsRangeEvenly) {
  for (const bool at_once : {true, false}) {
    const std::vector<double> rewards =
        at_once ? Sums(kUniform, 0, 1, 604) : SumsByPulls(kUniform, 0, 1, 605);
    std::vector<double> counts(64);
    for (const double reward : rewards) counts[static_cast<std::size_t>((reward + 1) * 32)] += 1;
    EXPECT_TRUE(test::FitsCounts(counts, std::vector<double>(64, kDraws / 64.)));
  }
}

TEST(RewardModelTest, LargeSumsAreNormal) {
  std::uint64_t seed = 700;
  test::Coins coins(701);
  const RewardModel standard{RewardKind::kGaussian, 1};
  std::vector<double> normal(kDraws);
  for (double& x : normal) x = standard.Draw(0, coins.gen);
  for (const Case& law : Cases()) {
    for (const double mean : law.means) {
      if (law.variance(mean) == 0) continue;
      constexpr double kCount = 1e9;
      std::vector<double> sums = Sums(law.model, mean, Count{1'000'000'000}, ++seed);
      for (double& sum : sums) sum = (sum - kCount * mean) / std::sqrt(kCount * law.variance(mean));
      EXPECT_TRUE(test::SameLaw(sums, normal)) << law.name << " " << mean;
    }
  }
}

// Computes ln E exp(l (reward - mean)) from the law itself, without the model's code.
double LogMoment(const RewardModel& model, double mean, double l) {
  switch (model.kind) {
    case RewardKind::kGaussian:
      return l * l * model.sd * model.sd / 2;
    case RewardKind::kRademacher:
      return std::log((1 + mean) / 2 * std::exp(l) + (1 - mean) / 2 * std::exp(-l)) - l * mean;
    case RewardKind::kBernoulli:
      return std::log1p(mean * std::expm1(l)) - l * mean;
    case RewardKind::kUniform:
      break;
  }
  const double scale = l * (1 - std::abs(mean));
  double sum = 0;
  for (int i = 0; i < 1 << 16; ++i) sum += std::exp(scale * ((2 * i + 1) * 0x1p-16 - 1));
  return std::log(sum * 0x1p-16);
}

TEST(RewardModelTest, TheProxyBoundsTheMomentGeneratingFunction) {
  for (const Case& law : Cases()) {
    double least_slack = 1;  // how close the bound comes to being attained
    for (int step = -20; step <= 20; ++step) {
      const Interval means = law.model.support().value_or(Interval{-1, 1});
      const double mean = means.low + (means.high - means.low) * (step + 20) / 40;
      for (double l = 0.05; l < 40; l *= law.model.kind == RewardKind::kUniform ? 2.1 : 1.3) {
        for (const double signed_l : {l, -l}) {
          const double moment = LogMoment(law.model, mean, signed_l);
          const double bound = l * l * law.model.proxy() * law.model.proxy() / 2;
          ASSERT_LE(moment, bound * (1 + 1e-9) + 1e-12) << law.name << " " << mean << " " << signed_l;
          least_slack = std::min(least_slack, 1 - moment / bound);
        }
      }
    }
    EXPECT_LT(least_slack, 0.01) << law.name << ": a smaller proxy would do";
  }
}

}  // namespace
}  // namespace bandana
