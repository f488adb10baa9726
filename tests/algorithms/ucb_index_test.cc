#include "bandana/algorithms/fed_ucb/ucb_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "bandana/bandit/decision_block.h"
#include "bandana/core/distributions.h"
#include "tests/support.h"

namespace bandana {
namespace {

struct Case {
  Matrix inverse;
  Vector theta;
};

Case RandomCase(Eigen::Index d, CoinGen& coin) {
  Matrix root(d, d);
  for (double& entry : root.reshaped()) entry = StandardNormal(coin) / std::sqrt(static_cast<double>(d));
  Vector theta(d);
  for (double& entry : theta) entry = StandardNormal(coin) / std::sqrt(static_cast<double>(d));
  return {root * root.transpose(), theta};
}

template <class Scalar>
DecisionBlock<Scalar> RandomSet(Eigen::Index arms, Eigen::Index d, CoinGen& coin) {
  DecisionBlock<Scalar> block(1, arms, d);
  for (Eigen::Index j = 0; j < d; ++j) {
    for (Eigen::Index a = 0; a < arms; ++a) {
      block.entries(0)[j * block.stride() + a] =
          static_cast<Scalar>(StandardNormal(coin) / std::sqrt(static_cast<double>(d)));
    }
  }
  return block;
}

template <class Scalar>
void CopyArm(DecisionBlock<Scalar>& block, Eigen::Index from, Eigen::Index to) {
  for (Eigen::Index j = 0; j < block.dimension(); ++j) {
    block.entries(0)[j * block.stride() + to] = block.entries(0)[j * block.stride() + from];
  }
}

template <class Scalar>
std::vector<double> NaiveIndices(const Case& given, double beta, const DecisionSet<Scalar>& set) {
  std::vector<double> indices;
  for (ArmId arm = 0; arm < set.arms; ++arm) {
    double mean = 0, form = 0;
    for (Eigen::Index j = 0; j < set.dimension; ++j) {
      mean += set.at(arm, j) * given.theta[j];
      for (Eigen::Index k = 0; k < set.dimension; ++k) {
        form += double{set.at(arm, j)} * given.inverse(j, k) * set.at(arm, k);
      }
    }
    indices.push_back(mean + beta * std::sqrt(std::max(0.0, form)));
  }
  return indices;
}

template <class Scalar>
ArmId Best(const Case& given, double beta, const DecisionSet<Scalar>& set) {
  UcbIndex<Scalar> index;
  index.Set(given.inverse, given.theta, beta);
  return index.Best(set);
}

/// Expects the choice of naive loops up to `tolerance`, and exactly the same arm in a share `agreeing` of the
/// cases.
template <class Scalar>
void ExpectNaive(double tolerance, double agreeing) {
  test::Coins coins(1);
  int cases = 0, same = 0;
  for (Eigen::Index d = 1; d <= 25; ++d) {
    for (const Eigen::Index arms : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 100, 129}) {
      for (const double beta : {0.0, 0.3, 5.0}) {
        const Case given = RandomCase(d, coins.gen);
        const auto block = RandomSet<Scalar>(arms, d, coins.gen);
        const ArmId arm = Best(given, beta, block.set(0));
        const std::vector<double> naive = NaiveIndices(given, beta, block.set(0));
        ASSERT_GE(arm, 0);
        ASSERT_LT(arm, arms);
        const auto largest = std::max_element(naive.begin(), naive.end());
        EXPECT_GE(naive[arm], *largest - tolerance * (1 + std::abs(*largest))) << d << " " << arms;
        ++cases;
        if (arm == largest - naive.begin()) ++same;
      }
    }
  }
  EXPECT_GE(same, agreeing * cases);
}

TEST(UcbIndexTest, ChoosesAsNaiveLoopsDo) { ExpectNaive<double>(1e-13, 1); }
TEST(UcbIndexTest, InSinglePrecisionUpToItsRounding) { ExpectNaive<float>(2e-5, 0.99); }

// Equal arms are placed in any two lanes, tiles and sizes. The first must win, which needs indices that are
// equal to the last bit.
template <class Scalar>
void ExpectFirstOfEquals() {
  test::Coins coins(2);
  for (const Eigen::Index d : {1, 2, 3, 5, 10, 13, 20, 23}) {
    for (const Eigen::Index arms : {9, 40, 67, 100}) {
      const Case given = RandomCase(d, coins.gen);
      auto block = RandomSet<Scalar>(arms, d, coins.gen);
      const ArmId best = Best(given, 0.5, block.set(0));
      for (Eigen::Index copy = 0; copy < arms; ++copy) {
        auto with_copy = block;
        CopyArm(with_copy, best, copy);
        EXPECT_EQ(Best(given, 0.5, with_copy.set(0)), std::min<Eigen::Index>(best, copy)) << d << " " << arms;
      }
      for (Eigen::Index copy = 0; copy < arms; ++copy) CopyArm(block, best, copy);
      EXPECT_EQ(Best(given, 0.5, block.set(0)), 0);
    }
  }
}

TEST(UcbIndexTest, OfEqualsTheFirst) { ExpectFirstOfEquals<double>(); }
TEST(UcbIndexTest, OfEqualsTheFirstInSinglePrecision) { ExpectFirstOfEquals<float>(); }

TEST(UcbIndexTest, ArmsThatAreNotThereNeverWin) {
  for (const Eigen::Index arms : {1, 5, 8, 11, 100}) {
    DecisionBlock<double> block(1, arms, 3);
    for (Eigen::Index a = 0; a < arms; ++a) block.entries(0)[a] = -1 - static_cast<double>((a * 7) % arms);
    const Case given{Matrix::Zero(3, 3), Vector::Unit(3, 0)};
    EXPECT_EQ(Best(given, 0, block.set(0)), 0);  // only arm 0 has (a 7) mod K = 0
  }
}

TEST(UcbIndexTest, ReadsTheLowerTriangleAlone) {
  test::Coins coins(3);
  Case given = RandomCase(10, coins.gen);
  const auto block = RandomSet<double>(50, 10, coins.gen);
  const ArmId best = Best(given, 1, block.set(0));
  given.inverse.triangularView<Eigen::StrictlyUpper>().setConstant(std::nan(""));
  EXPECT_EQ(Best(given, 1, block.set(0)), best);
}

TEST(UcbIndexTest, NegativeFormsCountAsZero) {
  DecisionBlock<double> block(1, 2, 1);
  block.entries(0)[0] = 0.5;
  block.entries(0)[1] = 0.75;
  EXPECT_EQ(Best({-Matrix::Identity(1, 1), Vector::Ones(1)}, 10, block.set(0)), 1);
  EXPECT_EQ(Best({-Matrix::Identity(1, 1), -Vector::Ones(1)}, 10, block.set(0)), 0);
}

TEST(UcbIndexTest, CanBeSetAgainToAnotherSize) {
  test::Coins coins(4);
  UcbIndex<double> index;
  for (const Eigen::Index d : {20, 3, 10, 25}) {
    const Case given = RandomCase(d, coins.gen);
    const auto block = RandomSet<double>(37, d, coins.gen);
    index.Set(given.inverse, given.theta, 1);
    EXPECT_EQ(index.Best(block.set(0)), Best(given, 1, block.set(0)));
  }
}

}  // namespace
}  // namespace bandana
