#include "bandana/privacy/calibration/prefix_sum.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "Eigen/QR"
#include "bandana/core/distributions.h"
#include "bandana/core/linear_algebra.h"
#include "bandana/core/status.h"
#include "bandana/privacy/calibration/gaussian.h"
#include "gtest/gtest.h"
#include "tests/support.h"

namespace bandana {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr PrefixSumMechanism kAll[] = {PrefixSumMechanism::kTree, PrefixSumMechanism::kHonaker,
                                       PrefixSumMechanism::kToeplitz};

std::string KeyOf(const absl::Status& status) {
  const auto error = InputErrorOf(status);
  return error.has_value() ? error->key : "";
}

std::unique_ptr<const PrefixSumStrategy> Make(PrefixSumMechanism mechanism, std::int64_t n) {
  return PrefixSumStrategy::Create(mechanism, n).value();
}

// Returns C, with one row per released value.
Matrix StrategyMatrix(const PrefixSumStrategy& strategy) {
  const std::int64_t n = strategy.steps();
  Matrix c = Matrix::Zero(strategy.ReleasedBy(n), n);
  for (std::int64_t t = 1; t <= n; ++t) {
    for (std::int64_t i = strategy.ReleasedBy(t - 1); i < strategy.ReleasedBy(t); ++i) {
      for (const auto& [step, weight] : strategy.Functional(t, i - strategy.ReleasedBy(t - 1))) {
        EXPECT_TRUE(step >= 1 && step <= t);  // no value depends on a future step
        c(i, step - 1) += weight;
      }
    }
  }
  return c;
}

// Returns B, with one row per step. Every weight is on a value that has been released by then.
Matrix EstimateMatrix(const PrefixSumStrategy& strategy) {
  const std::int64_t n = strategy.steps();
  Matrix b = Matrix::Zero(n, strategy.ReleasedBy(n));
  for (std::int64_t t = 1; t <= n; ++t) {
    for (const auto& [index, weight] : strategy.Estimate(t)) {
      EXPECT_TRUE(index >= 0 && index < strategy.ReleasedBy(t));
      b(t - 1, index) += weight;
    }
  }
  return b;
}

class PrefixSumStrategyTest : public testing::TestWithParam<PrefixSumMechanism> {};

TEST_P(PrefixSumStrategyTest, FactorsWithTheClaimedCosts) {
  for (int n = 1; n <= 64; ++n) {
    const auto strategy = Make(GetParam(), n);
    const PrefixSumCost cost = CostOfPrefixSum(GetParam(), n).value();
    const Matrix c = StrategyMatrix(*strategy);
    const Matrix b = EstimateMatrix(*strategy);
    const Matrix ones = Matrix(Matrix::Ones(n, n).triangularView<Eigen::Lower>());
    EXPECT_LT((b * c - ones).cwiseAbs().maxCoeff(), 1e-13) << n;

    const double column = c.colwise().norm().maxCoeff();
    EXPECT_GE(cost.sensitivity, column * (1 - 1e-15)) << n;
    EXPECT_NEAR(cost.sensitivity, column, 2e-12 * column) << n;
    EXPECT_EQ(cost.touched, (c.array() != 0).cast<int>().colwise().sum().maxCoeff()) << n;
    EXPECT_EQ(cost.released, c.rows()) << n;

    for (int t = 1; t <= n; ++t) {
      EXPECT_NEAR(strategy->Variance(t), b.row(t - 1).squaredNorm(), 1e-13) << n << " " << t;
    }
    EXPECT_NEAR(cost.max_variance, b.rowwise().squaredNorm().maxCoeff(), 1e-13) << n;
    EXPECT_NEAR(cost.last_variance, b.row(n - 1).squaredNorm(), 1e-13) << n;
  }
}

TEST_P(PrefixSumStrategyTest, LongStreamsAtRandomSteps) {
  test::Coins coins(11);
  for (const std::int64_t n : {1000, 4095, 5000}) {
    const auto strategy = Make(GetParam(), n);
    std::vector<double> x(n + 1, 0);
    std::vector<double> sums(n + 1, 0);
    std::vector<double> released;
    for (std::int64_t t = 1; t <= n; ++t) {
      x[t] = StandardNormal(coins.gen);
      sums[t] = sums[t - 1] + x[t];
      for (std::int64_t j = 0; j < strategy->ReleasedBy(t) - strategy->ReleasedBy(t - 1); ++j) {
        double value = 0;
        for (const auto& [step, weight] : strategy->Functional(t, j)) value += weight * x[step];
        released.push_back(value);
      }
    }
    for (int trial = 0; trial < 50; ++trial) {
      const std::int64_t t = trial == 0 ? n : 1 + static_cast<std::int64_t>(UniformUnit(coins.gen) * n);
      double estimate = 0;
      double squares = 0;
      for (const auto& [index, weight] : strategy->Estimate(t)) {
        estimate += weight * released[index];
        squares += weight * weight;
      }
      EXPECT_NEAR(estimate, sums[t], 1e-9) << n << " " << t;
      EXPECT_NEAR(strategy->Variance(t), squares, 1e-11) << n << " " << t;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, PrefixSumStrategyTest, testing::ValuesIn(kAll),
                         [](const auto& test) { return std::string(NameOf(test.param)); });

// No linear unbiased estimate from the nodes released so far has a smaller variance (Gauss-Markov).
TEST(PrefixSumTest, HonakerIsTheBestUseOfTheNodes) {
  for (const int n : {3, 7, 12, 31, 40}) {
    const auto strategy = Make(PrefixSumMechanism::kHonaker, n);
    const Matrix c = StrategyMatrix(*strategy);
    for (int t = 1; t <= n; ++t) {
      const Matrix seen = c.topLeftCorner(strategy->ReleasedBy(t), t);
      const Vector least = Matrix(seen.transpose()).completeOrthogonalDecomposition().solve(Vector::Ones(t));
      EXPECT_NEAR(strategy->Variance(t), least.squaredNorm(), 1e-10) << n << " " << t;
    }
  }
}

TEST(PrefixSumTest, FiguresOfTheSpecification) {
  const auto figure = [](PrefixSumMechanism mechanism, std::int64_t n) {
    const PrefixSumCost cost = CostOfPrefixSum(mechanism, n).value();
    return cost.sensitivity * cost.sensitivity * cost.max_variance;  // the variance times 2 rho
  };
  EXPECT_NEAR(figure(PrefixSumMechanism::kTree, 4095), 144, 1e-9);
  EXPECT_NEAR(figure(PrefixSumMechanism::kHonaker, 4095), 81.6, 0.05);
  EXPECT_NEAR(figure(PrefixSumMechanism::kToeplitz, 4095), 13.8, 0.05);
  EXPECT_NEAR(figure(PrefixSumMechanism::kTree, 1'048'575), 400, 1e-9);
  EXPECT_NEAR(figure(PrefixSumMechanism::kHonaker, 1'048'575), 216, 0.5);
  EXPECT_NEAR(figure(PrefixSumMechanism::kToeplitz, 1'048'575), 30.0, 0.05);
}

TEST(PrefixSumTest, TheDefaultHasAThirteenthOfTheTreesVariance) {
  constexpr std::int64_t kSteps = 1'048'575;
  const DpGuarantee guarantee = {1, 1e-6};
  const PrefixSumMechanism best = BestPrefixSum(kSteps, std::nullopt).value();
  EXPECT_EQ(best, PrefixSumMechanism::kToeplitz);
  const PrefixSumSetting chosen = TightPrefixSum(best, kSteps, guarantee, 1).value();
  const PrefixSumSetting tree = TightPrefixSum(PrefixSumMechanism::kTree, kSteps, guarantee, 1).value();
  EXPECT_NEAR(tree.sigma, 18.9, 0.05);
  EXPECT_LE(13 * chosen.max_stddev * chosen.max_stddev, tree.max_stddev * tree.max_stddev);
}

TEST(PrefixSumTest, MaximaOverStepsByEnumeration) {
  for (const PrefixSumMechanism mechanism : {PrefixSumMechanism::kTree, PrefixSumMechanism::kHonaker}) {
    double most = 0;
    for (std::int64_t n = 1; n <= 3000; ++n) {
      most = std::max(most, Make(mechanism, n)->Variance(n));
      EXPECT_DOUBLE_EQ(CostOfPrefixSum(mechanism, n)->max_variance, most) << n;
    }
  }
}

TEST(PrefixSumTest, LongToeplitzNormsAreFromAbove) {
  long double c = 1;
  long double squares = 0;
  for (std::int64_t k = 0; k < 3'000'000; ++k) {
    if (k > 0) c *= static_cast<long double>(2 * k - 1) / static_cast<long double>(2 * k);
    squares += c * c;
  }
  const double sensitivity = CostOfPrefixSum(PrefixSumMechanism::kToeplitz, 3'000'000)->sensitivity;
  EXPECT_GE(sensitivity, std::sqrt(static_cast<double>(squares)));
  EXPECT_NEAR(sensitivity, std::sqrt(static_cast<double>(squares)), 3e-12);
  // |c|^2 = (ln n + Euler's constant + 4 ln 2)/pi + o(1)
  const double n = 0x1p40;
  const double limit = (std::log(n) + std::numbers::egamma + 4 * std::numbers::ln2) / std::numbers::pi;
  EXPECT_NEAR(CostOfPrefixSum(PrefixSumMechanism::kToeplitz, std::int64_t{1} << 40)->max_variance, limit,
              1e-11);
}

TEST(PrefixSumTest, MemoryDecides) {
  EXPECT_EQ(BestPrefixSum(4095, 4095).value(), PrefixSumMechanism::kToeplitz);
  EXPECT_EQ(BestPrefixSum(4095, 4094).value(), PrefixSumMechanism::kHonaker);
  EXPECT_EQ(BestPrefixSum(4095, 12).value(), PrefixSumMechanism::kHonaker);
  EXPECT_EQ(KeyOf(BestPrefixSum(4095, 11).status()), "memory");
  for (std::int64_t n = 2; n <= 200; ++n) {
    EXPECT_EQ(BestPrefixSum(n, std::nullopt).value(), PrefixSumMechanism::kToeplitz) << n;
  }
  EXPECT_EQ(BestPrefixSum(1, std::nullopt).value(), PrefixSumMechanism::kTree);  // all mechanisms are equal
}

TEST(PrefixSumTest, PaperSaysWhatItDelivers) {
  const PrefixSumSetting paper = PaperPrefixSum(1'048'576, {1, 1e-6}, 2).value();
  EXPECT_NEAR(paper.sigma, 4 * std::sqrt(21) * 2 * std::log(2e6), 1e-9);
  EXPECT_NEAR(GaussianDelta(paper.delivered.epsilon, paper.sigma / (2 * std::sqrt(21))), 1e-6, 1e-14);
  EXPECT_LT(paper.delivered.epsilon, 0.1);  // far more noise than needed
  // For a large epsilon there is less noise than needed.
  EXPECT_GT(PaperPrefixSum(15, {1000, 0.5}, 1)->delivered.epsilon, 1000);
}

// Rounded values of neighbouring streams are never farther apart than the grid's sensitivity. Rounding alone
// can move every value.
TEST(PrefixSumTest, RoundedValuesStayWithinTheGridSensitivity) {
  test::Coins coins(3);
  constexpr std::int64_t kSteps = 40;
  constexpr double kUnit = 0.25;
  constexpr double kMove = 0.9;
  for (const PrefixSumMechanism mechanism : kAll) {
    const auto strategy = Make(mechanism, kSteps);
    const PrefixSumCost cost = CostOfPrefixSum(mechanism, kSteps).value();
    const Matrix c = StrategyMatrix(*strategy);
    const double bound = PrefixSumGridSensitivity(cost, kMove, kUnit, 1, 0.5).value();
    EXPECT_NEAR(bound, cost.sensitivity * kMove / kUnit + std::sqrt(static_cast<double>(cost.touched)), 1e-9);
    double farthest = 0;
    for (int trial = 0; trial < 3000; ++trial) {
      Vector x(kSteps);
      for (int i = 0; i < kSteps; ++i) x[i] = UniformUnit(coins.gen);
      Vector y = x;
      y[trial % 4] += kMove * (trial % 3 == 0 ? 1 : UniformUnit(coins.gen));
      const Vector moved = (c * x / kUnit).array().round() - (c * y / kUnit).array().round();
      farthest = std::max(farthest, moved.norm());
    }
    EXPECT_LE(farthest, bound);
    EXPECT_GT(farthest, cost.sensitivity * kMove / kUnit);  // so the rounding term is needed
  }
  EXPECT_EQ(PrefixSumGridSensitivity({.sensitivity = 2, .touched = 4}, 1, 0.5, 9, 0).value(), 4);
  EXPECT_NEAR(PrefixSumGridSensitivity({.sensitivity = 2, .touched = 4}, 1, 0.5, 9, 0.5).value(), 10, 1e-12);
}

TEST(PrefixSumTest, BadParametersAreRejectedByName) {
  for (const PrefixSumMechanism mechanism : kAll) {
    for (const std::int64_t n : {std::int64_t{0}, std::int64_t{-5}, (std::int64_t{1} << 40) + 1}) {
      EXPECT_EQ(KeyOf(PrefixSumStrategy::Create(mechanism, n).status()), "n");
      EXPECT_EQ(KeyOf(CostOfPrefixSum(mechanism, n).status()), "n");
      EXPECT_EQ(KeyOf(TightPrefixSum(mechanism, n, {1, 1e-6}, 1).status()), "n");
      EXPECT_EQ(KeyOf(PaperPrefixSum(n, {1, 1e-6}, 1).status()), "n");
      EXPECT_EQ(KeyOf(BestPrefixSum(n, std::nullopt).status()), "n");
    }
    for (const double bad : {0.0, -1.0, kInfinity, kNaN, 5e-324}) {
      EXPECT_EQ(KeyOf(TightPrefixSum(mechanism, 4, {1, 1e-6}, bad).status()), "sensitivity");
      EXPECT_EQ(KeyOf(PaperPrefixSum(4, {1, 1e-6}, bad).status()), "sensitivity");
      EXPECT_EQ(KeyOf(PrefixSumGridSensitivity({1, 1}, bad, 1, 1, 0.5).status()), "sensitivity");
      EXPECT_EQ(KeyOf(PrefixSumGridSensitivity({1, 1}, 1, bad, 1, 0.5).status()), "unit");
    }
    for (const double bad : {0.0, -1.0, kInfinity, kNaN}) {
      EXPECT_EQ(KeyOf(TightPrefixSum(mechanism, 4, {bad, 1e-6}, 1).status()), "epsilon");
      EXPECT_EQ(KeyOf(TightPrefixSum(mechanism, 4, {1, bad}, 1).status()), "delta");
      EXPECT_EQ(KeyOf(PaperPrefixSum(4, {bad, 1e-6}, 1).status()), "epsilon");
    }
  }
  EXPECT_EQ(KeyOf(PrefixSumStrategy::Create(PrefixSumMechanism::kToeplitz, std::int64_t{1} << 30).status()),
            "n");
  EXPECT_EQ(KeyOf(PrefixSumGridSensitivity({1, 1}, 1, 1, 0, 0.5).status()), "coordinates");
  EXPECT_EQ(KeyOf(PrefixSumGridSensitivity({1, 1}, 1, 1, 1, kNaN).status()), "value_error");
}

}  // namespace
}  // namespace bandana
