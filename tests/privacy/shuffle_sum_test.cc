#include "bandana/privacy/calibration/shuffle_sum.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "bandana/core/status.h"
#include "bandana/privacy/calibration/gaussian.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace bandana {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

using Pmf = std::vector<double>;  // the probabilities of 0, 1, 2, ...
using Law = std::map<std::vector<int>, double>;

Pmf Convolve(const Pmf& a, const Pmf& b) {
  Pmf sum(a.size() + b.size() - 1);
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) sum[i + j] += a[i] * b[j];
  }
  return sum;
}

Pmf Binomial(int n, double p) {
  Pmf law{1};
  for (int i = 0; i < n; ++i) law = Convolve(law, {1 - p, p});
  return law;
}

Pmf Shifted(const Pmf& pmf, int shift) {
  Pmf result(pmf.size() + shift);
  std::copy(pmf.begin(), pmf.end(), result.begin() + shift);
  return result;
}

Law Product(const std::vector<Pmf>& coordinates) {
  Law law{{{}, 1}};
  for (const Pmf& pmf : coordinates) {
    Law next;
    for (const auto& [outcome, mass] : law) {
      for (std::size_t i = 0; i < pmf.size(); ++i) {
        auto longer = outcome;
        longer.push_back(static_cast<int>(i));
        next[longer] = mass * pmf[i];
      }
    }
    law = std::move(next);
  }
  return law;
}

double HockeyStick(const Law& p, const Law& q, double epsilon) {
  double sum = 0;
  for (const auto& [outcome, mass] : p) {
    const auto other = q.find(outcome);
    sum += std::max(0.0, mass - std::exp(epsilon) * (other == q.end() ? 0 : other->second));
  }
  return sum;
}

// Returns the smallest valid delta for a client that moves every coordinate's count from 0 to `shift`.
double FullShiftDelta(int noise_bits, double p, int shift, int dimension, double epsilon) {
  const Pmf noise = Binomial(noise_bits, p);
  const Law low = Product(std::vector<Pmf>(dimension, noise));
  const Law high = Product(std::vector<Pmf>(dimension, Shifted(noise, shift)));
  return std::max(HockeyStick(low, high, epsilon), HockeyStick(high, low, epsilon));
}

class ShuffleSumOfFew : public testing::TestWithParam<std::tuple<int, int, int>> {};

TEST_P(ShuffleSumOfFew, LossIsTheHockeyStickByEnumeration) {
  const auto [noise_bits, shift, dimension] = GetParam();
  const PrivacyLossDistribution loss = ShuffleSumLoss({noise_bits, 0.5, shift, dimension}, 1e-6);
  for (const double epsilon : {0.0, 0.05, 0.3, 1.0, 2.5}) {
    const double exact = FullShiftDelta(noise_bits, 0.5, shift, dimension, epsilon);
    EXPECT_GE(loss.Delta(epsilon), exact * (1 - 1e-12)) << epsilon;
    EXPECT_LE(loss.Delta(epsilon), exact * 1.005 + 1e-13) << epsilon;
  }
}

TEST_P(ShuffleSumOfFew, SkewedNoiseIsBoundedInBothDirections) {
  const auto [noise_bits, shift, dimension] = GetParam();
  const PrivacyLossDistribution loss = ShuffleSumLoss({noise_bits, 0.25, shift, dimension}, 1e-6);
  for (const double epsilon : {0.0, 0.3, 1.0, 2.5}) {
    EXPECT_GE(loss.Delta(epsilon), FullShiftDelta(noise_bits, 0.25, shift, dimension, epsilon) * (1 - 1e-12));
  }
}

INSTANTIATE_TEST_SUITE_P(Grid, ShuffleSumOfFew,
                         testing::Values(std::tuple{1, 1, 1}, std::tuple{3, 4, 1}, std::tuple{40, 1, 1},
                                         std::tuple{400, 8, 1}, std::tuple{1000, 3, 1}, std::tuple{20, 1, 2},
                                         std::tuple{100, 4, 2}, std::tuple{14, 2, 3}));

// Tries every pair of encoded vectors, so every move up and down, and not only the full ones.
TEST(ShuffleSumTest, NoMoveIsWorseThanTheFullOne) {
  constexpr int kLevels = 2;
  constexpr int kNoiseBits = 7;
  for (const double p : {0.5, 0.25}) {
    const Pmf noise = Binomial(kNoiseBits, p);
    const PrivacyLossDistribution bound = ShuffleSumLoss({kNoiseBits, p, kLevels, 2}, 1e-6);
    std::vector<Law> laws;
    for (int i = 0; i <= kLevels; ++i) {
      for (int j = 0; j <= kLevels; ++j) laws.push_back(Product({Shifted(noise, i), Shifted(noise, j)}));
    }
    for (const double epsilon : {0.0, 0.2, 1.0, 2.0, 4.0}) {
      double worst = 0;
      for (const Law& a : laws) {
        for (const Law& b : laws) worst = std::max(worst, HockeyStick(a, b, epsilon));
      }
      EXPECT_LE(worst, bound.Delta(epsilon));
      if (p == 0.5) {
        EXPECT_NEAR(worst, FullShiftDelta(kNoiseBits, p, kLevels, 2, epsilon), 1e-14);
      }
    }
  }
}

// Computes the law of one coordinate's total from the protocol: each client rounds at random, and the honest
// ones add noise.
Pmf TotalOf(const std::vector<double>& values, int honest, int levels, int noise_bits) {
  Pmf total{1};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double scaled = values[i] * levels;
    const double floor = std::floor(scaled);
    Pmf report = Shifted({1 - (scaled - floor), scaled - floor}, static_cast<int>(floor));
    if (static_cast<int>(i) < honest) report = Convolve(report, Binomial(noise_bits, 0.5));
    total = Convolve(total, report);
  }
  return total;
}

TEST(ShuffleSumTest, TheWholeProtocolHasTheLossOfItsHonestNoise) {
  constexpr int kLevels = 3;
  constexpr int kNoiseBits = 6;
  for (const int honest : {1, 2, 3}) {  // of three clients; the first one's value is replaced
    const PrivacyLossDistribution bound = ShuffleSumLoss({honest * kNoiseBits, 0.5, kLevels, 1}, 1e-6);
    for (const double epsilon : {0.1, 1.0, 2.0}) {
      double worst = 0;
      for (const double others : {0.0, 0.4}) {
        for (const double from : {0.0, 0.1, 0.5, 1.0}) {
          for (const double to : {0.0, 0.33, 0.9, 1.0}) {
            const Law p = Product({TotalOf({from, others, 0.7}, honest, kLevels, kNoiseBits)});
            const Law q = Product({TotalOf({to, others, 0.7}, honest, kLevels, kNoiseBits)});
            worst = std::max(worst, HockeyStick(p, q, epsilon));
          }
        }
      }
      EXPECT_LE(worst, bound.Delta(epsilon)) << honest << " " << epsilon;
    }
    // Other clients whose values need no rounding hide nothing. Then the bound is attained.
    const Law low = Product({TotalOf({0, 0, 1}, honest, kLevels, kNoiseBits)});
    const Law high = Product({TotalOf({1, 0, 1}, honest, kLevels, kNoiseBits)});
    const double exact = HockeyStick(high, low, 1);
    EXPECT_NEAR(bound.Delta(1), exact, 0.003 * exact) << honest;
    // Counting the noise of one more client would promise too much.
    EXPECT_LT(ShuffleSumLoss({(honest + 1) * kNoiseBits, 0.5, kLevels, 1}, 1e-6).Delta(1), exact);
  }
}

TEST(ShuffleSumTest, GaussianLimit) {
  struct Case {
    ShuffleSumView view;
    double tolerance;  // relative to epsilon
  };
  for (const auto& [view, tolerance] :
       std::vector<Case>{{{4'000'000, 0.5, 100, 10}, 1e-3},
                         {{40'000'000'000, 0.5, 20'000, 25}, 3e-3},  // outcomes are grouped
                         {{400'000'000'000, 0.25, 100'000, 10}, 5e-3},
                         {{std::int64_t{1} << 53, 0.25, 10'000'000, 100}, 2e-2}}) {
    const double deviation = std::sqrt(static_cast<double>(view.noise_bits) * view.p * (1 - view.p));
    const double multiplier =
        deviation / (static_cast<double>(view.shift) * std::sqrt(static_cast<double>(view.dimension)));
    for (const double delta : {1e-3, 1e-9}) {
      const double expected = GaussianEpsilon(delta, multiplier);
      EXPECT_NEAR(ShuffleSumLoss(view, delta).Epsilon(delta), expected, tolerance * expected)
          << view.noise_bits << " " << delta;
    }
  }
}

TEST(ShuffleSumTest, AgreesWithTheAccountantsBinomial) {
  const PrivacyLossDistribution one = PrivacyLossDistribution::SymmetricBinomial(12'000, 4, 0x1p-13);
  const PrivacyLossDistribution ten = one.SelfCompose(10);
  const PrivacyLossDistribution loss = ShuffleSumLoss({12'000, 0.5, 4, 10}, 1e-6);
  for (const double epsilon : {0.1, 0.5, 1.0}) {
    EXPECT_NEAR(loss.Delta(epsilon), ten.Delta(epsilon), 3e-3 * ten.Delta(epsilon)) << epsilon;
  }
}

TEST(ShuffleSumTest, CpSgdIsNeverBelow) {
  for (const ShuffleSumView view : {ShuffleSumView{12'000, 0.5, 4, 10},
                                    {100'000, 0.25, 8, 3},
                                    {46'000, 0.5, 8, 10},
                                    {1'000'000, 0.5, 1, 100}}) {
    for (const double delta : {1e-3, 1e-6, 1e-9}) {
      const double closed = CpSgdEpsilon(view, delta).value();
      const double exact = ShuffleSumLoss(view, delta).Epsilon(delta);
      EXPECT_GE(closed, exact);
      EXPECT_LE(closed, 20 * exact);
    }
  }
  EXPECT_FALSE(CpSgdEpsilon({100, 0.5, 1, 1}, 1e-6).ok());
}

TEST(ShuffleSumTest, KnownFigures) {
  const ShuffleSumParams params{1000, 10, {1, 1e-6}, 1000, 0.1};
  const ShuffleSumSetting tight = TightShuffleSum(params).value();
  EXPECT_EQ(tight.levels, 4);
  EXPECT_EQ(tight.noise_bits, 12);
  EXPECT_LE(tight.bits_per_coordinate, 24);
  EXPECT_EQ(tight.bits_as_count, 5);  // a count of 0 to 16 ones
  EXPECT_TRUE(tight.within_loss);
  EXPECT_NEAR(tight.stddev / tight.gaussian_stddev, 1.067, 1e-3);
  EXPECT_NEAR(tight.noise_stddev, std::sqrt(3000.) / 4, 1e-12);
  EXPECT_NEAR(tight.stddev, std::sqrt(3250.) / 4, 1e-12);
  EXPECT_NEAR(tight.gaussian_stddev, TightGaussianMultiplier({1, 1e-6}).value() * std::sqrt(10), 1e-12);

  const ShuffleSumSetting finer = TightShuffleSum({1000, 10, {1, 1e-6}, 1000, 0.015}).value();
  EXPECT_LE(finer.stddev, 1.015 * finer.gaussian_stddev);
  EXPECT_LE(finer.bits_per_coordinate, 8 + 46);
  EXPECT_LE(ShuffleSumLoss({46 * 1000, 0.5, 8, 10}, 1e-6).Delta(1), 1e-6);
  EXPECT_GT(ShuffleSumLoss({45 * 1000, 0.5, 8, 10}, 1e-6).Delta(1), 1e-6);

  const ShuffleSumSetting paper = PaperVectorSum(params).value();
  EXPECT_EQ(paper.levels, 64);
  EXPECT_NEAR(static_cast<double>(paper.noise_bits), 3.86e8, 1e6);
  EXPECT_GT(paper.stddev, 900 * paper.gaussian_stddev);
  EXPECT_LT(paper.delivered.epsilon, 1e-3);
  EXPECT_FALSE(paper.within_loss);

  const ShuffleSumSetting scalar = PaperScalarSum({1000, 1, {1, 1e-6}, 1000, 0.1}).value();
  EXPECT_EQ(scalar.levels, 32);
  EXPECT_EQ(scalar.noise_bits, 2675);
  EXPECT_NEAR(scalar.delivered.epsilon, 0.1456, 1e-4);
}

bool Gives(std::int64_t noise_bits, const ShuffleSumSetting& setting, const ShuffleSumParams& params) {
  if (noise_bits == 0) return false;
  const ShuffleSumView view{noise_bits * params.hiding, 0.5, setting.levels, params.dimension};
  return ShuffleSumLoss(view, params.guarantee.delta).Delta(params.guarantee.epsilon) <=
         params.guarantee.delta;
}

RC_GTEST_PROP(ShuffleSumTest, TightIsLeastAndDelivers, ()) {
  const auto uniform = [](double low, double high) {
    return low + (high - low) * (*rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, 1'000'000))) / 1e6;
  };
  const auto clients = static_cast<Count>(std::exp(uniform(0, 8)));
  const ShuffleSumParams params{
      clients,
      *rc::gen::inRange(1, 12),
      {std::exp(uniform(-2, 2)), std::exp(uniform(-25, -1))},
      Collusion{.colluding = 0, .honest_fraction = uniform(0.05, 1)}.Hiding(clients),
      uniform(0.02, 0.5)};
  const ShuffleSumSetting setting = TightShuffleSum(params).value();
  RC_ASSERT(setting.within_loss);
  RC_ASSERT(Gives(setting.noise_bits, setting, params));
  RC_ASSERT(!Gives(setting.noise_bits - 1, setting, params));
  RC_ASSERT(setting.delivered.epsilon <= params.guarantee.epsilon);
  RC_ASSERT(setting.delivered.delta == params.guarantee.delta);
  RC_ASSERT(setting.bits_per_coordinate == setting.levels + setting.noise_bits);
  RC_ASSERT(setting.noise_stddev < setting.stddev);
}

// Fewer levels would need fewer bits, but none of them is within the loss.
TEST(ShuffleSumTest, NoSettingWithFewerBitsIsWithinTheLoss) {
  for (const Count clients : {30, 300, 3000}) {
    const ShuffleSumParams params{clients, 4, {1, 1e-5}, clients, 0.1};
    const ShuffleSumSetting chosen = TightShuffleSum(params).value();
    for (std::int64_t levels = 1; levels < chosen.levels; ++levels) {
      ShuffleSumSetting other = chosen;
      other.levels = levels;
      // The condition is (b + 1) n/4 = ((1 + loss) gaussian g)^2.
      const double limit = 1.1 * chosen.gaussian_stddev * static_cast<double>(levels);
      const auto most =
          static_cast<std::int64_t>(std::floor(4 * limit * limit / static_cast<double>(clients) - 1));
      EXPECT_FALSE(most >= 1 && Gives(most, other, params)) << clients << " " << levels;
    }
  }
}

TEST(ShuffleSumTest, LossIsMonotone) {
  const auto delta = [](std::int64_t noise_bits, std::int64_t shift, std::int64_t dimension) {
    return ShuffleSumLoss({noise_bits, 0.5, shift, dimension}, 1e-6).Delta(0.7);
  };
  for (const std::int64_t noise_bits : {100, 1000, 20'000}) {
    EXPECT_LT(delta(noise_bits + 100, 4, 3), delta(noise_bits, 4, 3));
    EXPECT_GT(delta(noise_bits, 5, 3), delta(noise_bits, 4, 3));
    EXPECT_GT(delta(noise_bits, 4, 4), delta(noise_bits, 4, 3));
  }
}

TEST(ShuffleSumTest, OnlyHidingClientsNoiseCounts) {
  ShuffleSumParams params{1000, 10, {1, 1e-6}, 1000, 0.1};
  const ShuffleSumSetting all = TightShuffleSum(params).value();
  params.hiding = 500;
  const ShuffleSumSetting half = TightShuffleSum(params).value();
  EXPECT_TRUE(half.within_loss);
  // Equal privacy takes twice the noise bits; the error grows by sqrt(2), and is reported so.
  EXPECT_GT(half.stddev, 1.38 * half.gaussian_stddev);
  EXPECT_LE(half.stddev, 1.1 * std::sqrt(2) * half.gaussian_stddev);
  EXPECT_GE(static_cast<double>(half.noise_bits) / static_cast<double>(half.levels * half.levels),
            1.9 * static_cast<double>(all.noise_bits) / static_cast<double>(all.levels * all.levels));
  EXPECT_GT(PaperVectorSum(params)->delivered.epsilon,
            PaperVectorSum({1000, 10, {1, 1e-6}, 1000, 0.1})->delivered.epsilon);
}

// The loss against a participant who subtracts its own share, where noise was set as if nobody could. Figures
// that a reviewer recomputed.
TEST(ShuffleSumTest, AParticipantSeesMoreThanTheServer) {
  for (const auto& [clients, expected] :
       std::vector<std::pair<Count, double>>{{2, 1.474}, {4, 1.164}, {7, 1.070}, {23, 1.008}}) {
    const ShuffleSumSetting setting = TightShuffleSum({clients, 3, {1, 1e-5}, clients, 0.1}).value();
    const ShuffleSumView view{setting.noise_bits * (clients - 1), setting.p, setting.levels, 3};
    EXPECT_NEAR(ShuffleSumLoss(view, 1e-5).Epsilon(1e-5), expected, 0.02) << clients;
    const ShuffleSumSetting sound = TightShuffleSum({clients, 3, {1, 1e-5}, clients - 1, 0.1}).value();
    const ShuffleSumView seen{sound.noise_bits * (clients - 1), sound.p, sound.levels, 3};
    EXPECT_LE(ShuffleSumLoss(seen, 1e-5).Epsilon(1e-5), 1) << clients;
  }
}

TEST(CollusionTest, CountsThoseWhoHide) {
  const auto hiding = [](Count clients, Count colluding, double honest) {
    return Collusion{colluding, honest}.Hiding(clients);
  };
  EXPECT_EQ(hiding(100, 0, 1), 100);
  EXPECT_EQ(hiding(100, 1, 1), 99);
  EXPECT_EQ(hiding(100, 0, 0.29), 29) << "0.29 * 100 < 29 in floating point";
  EXPECT_EQ(hiding(100, 0, 0.07), 7);
  EXPECT_EQ(hiding(100, 80, 0.5), 20) << "the larger number of colluders counts";
  EXPECT_EQ(hiding(3, 0, 0.5), 1) << "of 1.5 honest clients, 1 is sure";
  EXPECT_EQ(hiding(10, 0, 1e-300), 1);
  EXPECT_EQ(hiding(1, 1, 1), 1) << "nobody else is there to work with the adversary";
  EXPECT_EQ(hiding(5, 7, 1), 1);
  EXPECT_EQ(hiding(Count{1} << 40, 0, 1), Count{1} << 40);
  EXPECT_FALSE((Collusion{-1, 1}.Check().ok()));
}

TEST(CollusionTest, SaysWhomTheClaimCovers) {
  const auto said = [](Count colluding, double honest) {
    return Collusion{colluding, honest}.Describe("silos");
  };
  EXPECT_THAT(said(1, 1), ::testing::StartsWith("At most 1 of the silos works with the adversary"));
  EXPECT_THAT(said(2, 1), ::testing::StartsWith("At most 2 of the silos work with the adversary"));
  EXPECT_THAT(said(1, 0.9),
              ::testing::StartsWith("At most 1 of the silos, or 10 % of them if that is more,"));
  EXPECT_THAT(said(0, 0.9), ::testing::StartsWith("At most 10 % of the silos work with the adversary"));
  EXPECT_THAT(said(1, 1), ::testing::EndsWith("(a process that holds several silos counts as several)"));
  EXPECT_EQ(said(0, 1), "The adversary is none of the silos and works with none of them")
      << "another silo knows its own noise";
}

// The published constants: the bound for all queries is above what single ones deliver, and not far above.
TEST(ShuffleSumTest, ThePaperBoundCoversEveryQuery) {
  const DpGuarantee asked{1, 1e-6};
  const Collusion one;
  const double scalar = PaperScalarEpsilon(asked, one, 5000);
  const double vector = PaperVectorEpsilon(asked, one, 5000);
  EXPECT_LT(vector, 0.02);
  EXPECT_LT(scalar, 1);
  for (const Count n : {1, 2, 3, 7, 20, 77, 1000, 5000}) {
    EXPECT_LE(PaperScalarSum({n, 1, asked, one.Hiding(n), 0.1})->delivered.epsilon, scalar) << n;
    for (const std::int64_t s : {1, 2, 3, 10, 57}) {
      EXPECT_LE(PaperVectorSum({n, s, asked, one.Hiding(n), 0.1})->delivered.epsilon, vector)
          << n << " " << s;
    }
  }
}

TEST(ShuffleSumTest, AnUnreachableLossIsSaid) {
  for (const Count clients : {1000, 1'000'000}) {
    const ShuffleSumSetting setting = TightShuffleSum({clients, 10, {1, 1e-6}, clients, 0}).value();
    EXPECT_FALSE(setting.within_loss);
    EXPECT_LE(setting.delivered.epsilon, 1);
    EXPECT_LT(setting.stddev, 1.001 * setting.gaussian_stddev);
  }
}

TEST(ShuffleSumTest, ExtremesAreAnswered) {
  for (const ShuffleSumParams& params : {ShuffleSumParams{1, 1, {1, 1e-6}, 1, 0.1},
                                         {1, 1, {50, 0.9}, 1, 0.1},
                                         {2, 1, {20, 1e-25}, 1, 0.1},
                                         {Count{1} << 40, 1000, {1, 1e-9}, Count{1} << 33, 0.1},
                                         {1'000'000, 1, {0.001, 1e-12}, 1'000'000, 0.1}}) {
    const auto setting = TightShuffleSum(params);
    ASSERT_TRUE(setting.ok()) << setting.status();
    EXPECT_LE(setting->delivered.epsilon, params.guarantee.epsilon);
    EXPECT_GE(setting->noise_bits, 1);
  }
  EXPECT_FALSE(TightShuffleSum({1, 100'000, {1e-12, 1e-25}, 1, 0.1}).ok());
  // If there is more noise than can be counted, only the part that can be counted is used.
  EXPECT_LT(PaperVectorSum({1'000'000, 10, {0.1, 1e-6}, 1'000'000, 0.1})->delivered.epsilon, 0.1);
}

void ExpectRejected(const ShuffleSumParams& params, const std::string& key) {
  for (const auto& result : {TightShuffleSum(params), PaperScalarSum(params), PaperVectorSum(params)}) {
    const auto error = InputErrorOf(result.status());
    ASSERT_TRUE(error.has_value()) << result.status();
    EXPECT_EQ(error->key, key);
  }
}

TEST(ShuffleSumTest, BadParametersAreRejectedByName) {
  const ShuffleSumParams good{100, 1, {1, 1e-6}, 100, 0.1};
  ASSERT_TRUE(TightShuffleSum(good).ok());
  for (const Count bad : {Count{0}, Count{-1}, std::numeric_limits<Count>::max()}) {
    ShuffleSumParams params = good;
    params.clients = bad;
    ExpectRejected(params, "clients");
  }
  for (const std::int64_t bad : {0, -3, 2'000'000}) {
    ShuffleSumParams params = good;
    params.dimension = bad;
    ExpectRejected(params, "dimension");
  }
  for (const double bad : {0.0, -1.0, kInfinity, kNaN, 1e-310}) {
    ShuffleSumParams params = good;
    params.guarantee.epsilon = bad;
    ExpectRejected(params, "epsilon");
  }
  for (const double bad : {0.0, 1.0, -1.0, kInfinity, kNaN, 1e-310, 1e-26}) {
    ShuffleSumParams params = good;
    params.guarantee.delta = bad;
    ExpectRejected(params, "delta");
  }
  for (const Count bad : {0, -1, 101}) {
    ShuffleSumParams params = good;
    params.hiding = bad;
    ExpectRejected(params, "hiding");
  }
  for (const double bad : {-0.1, kInfinity, kNaN}) {
    ShuffleSumParams params = good;
    params.loss = bad;
    EXPECT_EQ(InputErrorOf(TightShuffleSum(params).status())->key, "loss");
  }
  EXPECT_EQ(InputErrorOf(PaperScalarSum({100, 2, {1, 1e-6}, 100, 0.1}).status())->key, "dimension");
  EXPECT_EQ(InputErrorOf(PaperVectorSum({100, 2, {15, 1e-6}, 100, 0.1}).status())->key, "epsilon");
  EXPECT_EQ(InputErrorOf(PaperVectorSum({100, 2, {1, 0.5}, 100, 0.1}).status())->key, "delta");
}

}  // namespace
}  // namespace bandana
