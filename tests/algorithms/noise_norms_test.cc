#include "bandana/algorithms/fed_ucb/noise_norms.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <numbers>
#include <vector>

#include "bandana/core/distributions.h"
#include "bandana/core/linear_algebra.h"
#include "tests/support.h"

namespace bandana {
namespace {

using std::numbers::sqrt2;

// Computes the exact law of the largest eigenvalue by de Bruijn's Pfaffian: P(max <= x) = Pf A(x)/Pf
// A(infinity). The entries of A are the integrals of sgn(z - y) phi_i(y) phi_j(z) over y, z <= x; if d is
// odd, the integrals of phi_i are its border. It uses the midpoint rule and Pf^2 = det.
double LargestEigenvalueCdf(int d, double x) {
  const auto determinant = [&](double to) {
    constexpr int kPoints = 20'000;
    const double from = -14;
    const double step = (to - from) / kPoints;
    const int size = d + d % 2;
    Matrix a = Matrix::Zero(size, size);
    Vector before = Vector::Zero(d), phi(d);  // integrals up to z
    for (int k = 0; k < kPoints; ++k) {
      const double z = from + (k + 0.5) * step;
      phi(0) = std::exp(-z * z / 4);
      if (d > 1) phi(1) = z * phi(0);
      for (int i = 2; i < d; ++i) phi(i) = (z * phi(i - 1) - std::sqrt(i - 1.0) * phi(i - 2)) / std::sqrt(i);
      const Vector middle = before + phi * (step / 2);
      a.topLeftCorner(d, d) += step * (middle * phi.transpose() - phi * middle.transpose());
      before += step * phi;
    }
    if (d % 2 == 1) {
      a.topRightCorner(d, 1) = before;
      a.bottomLeftCorner(1, d) = -before.transpose();
    }
    return a.partialPivLu().determinant();
  };
  return std::sqrt(determinant(x) / determinant(14));
}

TEST(SymmetricNoiseNormTest, OneByOneIsANormal) {
  for (const double level : {0.5, 0.05, 1e-6}) {
    const double exact = sqrt2 * quantile(complement(boost::math::normal(), level / 2));
    EXPECT_NEAR(SymmetricNoiseNorm(1, level), exact, 1e-8 * exact);
    EXPECT_GE(SymmetricNoiseNorm(1, level), exact);
  }
}

TEST(SymmetricNoiseNormTest, NearlyNoEigenvaluesAreExpectedAboveAndAllAbove) {
  for (const Count d : {1, 2, 3, 10, 31, 100, 256}) {
    EXPECT_NEAR(internal::ExpectedEigenvaluesAbove(d, 0), static_cast<double>(d) / 2,
                1e-8 * static_cast<double>(d));
    const double edge = 2 * std::sqrt(static_cast<double>(d));
    EXPECT_NEAR(internal::ExpectedEigenvaluesAbove(d, -edge - 10), static_cast<double>(d),
                1e-7 * static_cast<double>(d));
    EXPECT_LT(internal::ExpectedEigenvaluesAbove(d, edge + 8), 1e-6);
  }
}

// Two eigenvalues above the edge are rare, so the exact law's norm is hardly smaller.
TEST(SymmetricNoiseNormTest, IsTheExactLawsUpToAThousandth) {
  for (const int d : {2, 3, 5, 8}) {
    for (const double level : {0.1, 0.002}) {
      const double q = SymmetricNoiseNorm(d, level);
      EXPECT_LE(1 - LargestEigenvalueCdf(d, q), level / 2 * (1 + 1e-5)) << d;
      EXPECT_GT(1 - LargestEigenvalueCdf(d, q * 0.999), level / 2) << d;
    }
  }
}

TEST(SymmetricNoiseNormTest, IsBelowTheConcentrationBoundAndNearIt) {
  for (const Count d : {2, 10, 20, 100, 256}) {
    for (const double level : {0.1, 1e-4, 1e-12}) {
      const double q = SymmetricNoiseNorm(d, level);
      const double bound = internal::ConcentratedNoiseNorm(d, level);
      EXPECT_LT(q, bound);
      EXPECT_GT(q, 0.6 * bound);
    }
  }
  EXPECT_EQ(SymmetricNoiseNorm(257, 0.01), internal::ConcentratedNoiseNorm(257, 0.01));
  EXPECT_NEAR(internal::ConcentratedNoiseNorm(100, 0.05), 20 + sqrt2 * 1.959964, 1e-4);
}

struct Normals {
  explicit Normals(std::uint64_t seed) : coins(seed) {}
  double operator()() { return StandardNormal(coins.gen); }
  test::Coins coins;
};

Matrix Symmetric(Count d, Normals& normals) {
  Matrix z(d, d);
  for (Eigen::Index i = 0; i < d; ++i) {
    for (Eigen::Index j = 0; j < i; ++j) z(i, j) = z(j, i) = normals();
    z(i, i) = sqrt2 * normals();
  }
  return z;
}

// Expects that `above` of `draws` fits a probability between `least_share` * `level` and `level`. Each side
// has a false-alarm rate of 1e-6.
void ExpectLevel(int above, int draws, double level, double least_share) {
  const boost::math::binomial at_most(draws, level), at_least(draws, least_share * level);
  EXPECT_LE(above, quantile(complement(at_most, 1e-6)));
  EXPECT_GE(above, quantile(at_least, 1e-6));
}

TEST(SymmetricNoiseNormTest, HoldsForDraws) {
  constexpr int kDraws = 20'000;
  Normals normals(1);
  for (const Count d : {4, 7}) {
    const double q = SymmetricNoiseNorm(d, 0.05);
    int above = 0;
    for (int i = 0; i < kDraws; ++i) {
      const Eigen::SelfAdjointEigenSolver<Matrix> solver(Symmetric(d, normals), Eigen::EigenvaluesOnly);
      above += solver.eigenvalues().cwiseAbs().maxCoeff() > q ? 1 : 0;
    }
    ExpectLevel(above, kDraws, 0.05, 0.95);
  }
}

TEST(BiasNoiseNormTest, IsAChiWhereTheWeightsAreOne) {
  for (const Count d : {1, 2, 3, 10, 50}) {
    for (const double level : {0.3, 0.01, 1e-8}) {
      const double chi =
          std::sqrt(quantile(complement(boost::math::chi_squared(static_cast<double>(d)), level)));
      EXPECT_NEAR(BiasNoiseNorm(d, 0, 5, 2, level), 2 * chi, 1e-7 * chi);
      EXPECT_NEAR(BiasNoiseNorm(d, 3, 0, 2, level), 2 * chi, 1e-7 * chi);
      EXPECT_GE(BiasNoiseNorm(d, 3, 0, 2, level), 2 * chi);
    }
  }
  EXPECT_EQ(BiasNoiseNorm(3, 1, 0, 0, 0.1), 0);
  EXPECT_NEAR(BiasNoiseNorm(1, 2, 3, 0, 0.05), sqrt2 * 6 * 1.959964, 1e-4);
}

TEST(BiasNoiseNormTest, HoldsForDraws) {
  constexpr int kDraws = 40'000;
  Normals normals(2);
  for (const Count d : {2, 6}) {
    Vector theta = Vector::LinSpaced(d, 1, 2);
    theta *= 0.9 / theta.norm();
    const double q = BiasNoiseNorm(d, 0.9, 3, 2, 0.05);
    int above = 0;
    for (int i = 0; i < kDraws; ++i) {
      Vector bias = 3 * Symmetric(d, normals) * theta;
      for (Eigen::Index k = 0; k < d; ++k) bias(k) -= 2 * normals();
      above += bias.norm() > q ? 1 : 0;
    }
    ExpectLevel(above, kDraws, 0.05, 1);
  }
}

TEST(BiasNoiseNormTest, GrowsWithAllOfItsScales) {
  const double base = BiasNoiseNorm(5, 1, 1, 1, 0.01);
  EXPECT_GT(BiasNoiseNorm(6, 1, 1, 1, 0.01), base);
  EXPECT_GT(BiasNoiseNorm(5, 1.1, 1, 1, 0.01), base);
  EXPECT_GT(BiasNoiseNorm(5, 1, 1.1, 1, 0.01), base);
  EXPECT_GT(BiasNoiseNorm(5, 1, 1, 1.1, 0.01), base);
  EXPECT_GT(BiasNoiseNorm(5, 1, 1, 1, 0.009), base);
  EXPECT_NEAR(BiasNoiseNorm(5, 1, 1e9, 1e9, 0.01), 1e9 * base, 1);
}

TEST(BestRewardWeightTest, IsTheLeastOfAGrid) {
  for (const double factor : {0.0, 1.0, 2.0}) {
    for (const Count d : {2, 10}) {
      const double shift = factor * SymmetricNoiseNorm(d, 0.01) * 0.8;
      const auto cost = [&](double w) {
        const double s = 4 + w * w * 0.25;
        return shift * s + BiasNoiseNorm(d, 0.8, s, s / w, 0.01);
      };
      const double best = BestRewardWeight(d, 2, 0.5, 0.8, 0.01, factor);
      EXPECT_LE(best, 4);
      for (double w = 0.05; w <= 4; w *= 1.2) EXPECT_LE(cost(best), cost(w) * (1 + 1e-6)) << w;
    }
  }
}

TEST(BestRewardWeightTest, ScalesWithTheBounds) {
  const double best = BestRewardWeight(10, 1, 1, 1, 0.01, 1);
  EXPECT_NEAR(BestRewardWeight(10, 1, 2, 2, 0.01, 1), best / 2, 3e-3 * best) << "rewards in other units";
}

}  // namespace
}  // namespace bandana
