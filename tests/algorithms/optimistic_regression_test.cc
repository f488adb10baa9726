#include "bandana/algorithms/fed_ucb/optimistic_regression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <limits>
#include <vector>

#include "bandana/core/distributions.h"
#include "tests/support.h"

namespace bandana {
namespace {

using Exact = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Vector RandomVector(Eigen::Index d, CoinGen& coin) {
  Vector x(d);
  for (double& entry : x) entry = StandardNormal(coin) / std::sqrt(static_cast<double>(d));
  return x;
}

Matrix RandomGram(Eigen::Index d, CoinGen& coin) {
  Matrix gram = 0.5 * Matrix::Identity(d, d);
  for (Eigen::Index i = 0; i < d; ++i) {
    const Vector x = RandomVector(d, coin);
    gram += x * x.transpose();
  }
  return gram;
}

/// Expects that inverse, theta and determinant agree with the regression's own sums.
void ExpectSolved(const OptimisticRegression& regression, double tolerance) {
  const Exact gram = regression.gram().cast<long double>();
  const Exact inverse = gram.inverse();
  const Exact theta = inverse * regression.moments().cast<long double>();
  const auto det = static_cast<double>(std::log(gram.determinant()));
  EXPECT_LE((regression.inverse().cast<long double>() - inverse).norm(), tolerance * inverse.norm());
  EXPECT_LE((regression.theta().cast<long double>() - theta).norm(), tolerance * (1 + theta.norm()));
  EXPECT_NEAR(regression.log_det(), det, tolerance * (1 + std::abs(det)));
}

TEST(OptimisticRegressionTest, AddsAsIfComputedAfresh) {
  test::Coins coins(1);
  for (Eigen::Index d = 1; d <= 25; ++d) {
    SCOPED_TRACE(d);
    Matrix gram = RandomGram(d, coins.gen);
    Vector moments = RandomVector(d, coins.gen);
    OptimisticRegression regression(d);
    ASSERT_TRUE(regression.Reset(gram, moments).ok());
    ExpectSolved(regression, 1e-13);
    for (int i = 0; i < 60; ++i) {
      const Vector x = RandomVector(d, coins.gen);
      const double y = UniformUnit(coins.gen);
      regression.Add(x.data(), y);
      gram += x * x.transpose();
      moments += y * x;
    }
    EXPECT_LE((regression.gram() - gram).norm(), 1e-13 * gram.norm());
    EXPECT_LE((regression.moments() - moments).norm(), 1e-13 * (1 + moments.norm()));
    EXPECT_EQ(regression.added(), 60);
    ExpectSolved(regression, 1e-12);
    EXPECT_EQ(Matrix(regression.inverse()), Matrix(regression.inverse().transpose()));
    EXPECT_EQ(Matrix(regression.gram()), Matrix(regression.gram().transpose()));
  }
}

TEST(OptimisticRegressionTest, DoesNotDrift) {
  constexpr Eigen::Index kDimension = 10;
  test::Coins coins(2);
  OptimisticRegression regression(kDimension);
  ASSERT_TRUE(
      regression.Reset(1e-3 * Matrix::Identity(kDimension, kDimension), Vector::Zero(kDimension)).ok());
  for (Count i = 1; i <= 5 * OptimisticRegression::kRefresh; ++i) {
    const Vector x = RandomVector(kDimension, coins.gen);
    regression.Add(x.data(), UniformUnit(coins.gen));
    if (i % OptimisticRegression::kRefresh == OptimisticRegression::kRefresh - 1) {
      ExpectSolved(regression, 1e-10);
    }
    if (i % OptimisticRegression::kRefresh != 0) continue;
    OptimisticRegression afresh(kDimension);
    ASSERT_TRUE(afresh.Reset(regression.gram(), regression.moments()).ok());
    EXPECT_EQ(Matrix(afresh.inverse()), Matrix(regression.inverse()));
    EXPECT_EQ(afresh.theta(), regression.theta());
    EXPECT_EQ(afresh.log_det(), regression.log_det());
  }
}

TEST(OptimisticRegressionTest, SameRecordsSameBits) {
  constexpr Eigen::Index kDimension = 7;
  test::Coins coins(3);
  OptimisticRegression one(kDimension), other(kDimension);
  const Matrix gram = RandomGram(kDimension, coins.gen);
  ASSERT_TRUE(one.Reset(gram, Vector::Zero(kDimension)).ok());
  ASSERT_TRUE(other.Reset(gram, Vector::Zero(kDimension)).ok());
  std::vector<double> shifted(kDimension + 1);
  for (int i = 0; i < 100; ++i) {
    const Vector x = RandomVector(kDimension, coins.gen);
    std::copy(x.begin(), x.end(), shifted.begin() + 1);  // moves x to another alignment
    one.Add(x.data(), 0.25);
    other.Add(shifted.data() + 1, 0.25);
  }
  EXPECT_EQ(Matrix(one.inverse()), Matrix(other.inverse()));
  EXPECT_EQ(one.theta(), other.theta());
  EXPECT_EQ(one.log_det(), other.log_det());
}

TEST(OptimisticRegressionTest, SmallestEigenvalue) {
  const Matrix gram = (Matrix(2, 2) << 2, 1, 1, 2).finished();
  OptimisticRegression regression(2);
  ASSERT_TRUE(regression.Reset(gram, Vector::Zero(2)).ok());
  EXPECT_NEAR(regression.min_eigenvalue(), 1, 1e-14);
}

TEST(OptimisticRegressionTest, NotPositiveDefiniteIsAnErrorThatChangesNothing) {
  OptimisticRegression regression(2);
  ASSERT_TRUE(regression.Reset(3 * Matrix::Identity(2, 2), Vector::Ones(2)).ok());
  const double x[] = {0.5, -0.25};
  regression.Add(x, 1);
  const Matrix inverse = regression.inverse();
  const Vector theta = regression.theta();
  const auto matrix = [](double a, double b, double c) { return (Matrix(2, 2) << a, b, b, c).finished(); };
  for (const Matrix& bad : {matrix(0, 0, 0), matrix(1, 1, 1), matrix(1, 2, 1), matrix(-1, 0, 1),
                            matrix(1, 0, -1e-9), matrix(1, kNan, 1), matrix(kNan, 0, 1),
                            matrix(1, 0, kInfinity), matrix(kInfinity, 0, 1), matrix(1, kInfinity, 1)}) {
    EXPECT_EQ(regression.Reset(bad, Vector::Zero(2)).code(), absl::StatusCode::kFailedPrecondition) << bad;
  }
  for (const double bad : {kNan, kInfinity}) {
    EXPECT_EQ(regression.Reset(Matrix::Identity(2, 2), Vector::Constant(2, bad)).code(),
              absl::StatusCode::kFailedPrecondition);
  }
  EXPECT_EQ(Matrix(regression.inverse()), inverse);
  EXPECT_EQ(regression.theta(), theta);
  EXPECT_EQ(regression.added(), 1);
  regression.Add(x, 1);
  ExpectSolved(regression, 1e-14);
}

}  // namespace
}  // namespace bandana
