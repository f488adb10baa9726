#include "bandana/privacy/calibration/sensitivity.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

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

std::string KeyOf(const absl::Status& status) {
  const auto error = InputErrorOf(status);
  return error.has_value() ? error->key : "";
}

using Point = std::vector<double>;

double Length(const Point& x, Norm norm) {
  double total = 0;
  for (const double entry : x) total += norm == Norm::kL1 ? std::abs(entry) : entry * entry;
  return norm == Norm::kL1 ? total : std::sqrt(total);
}

// Returns the points at which a convex function such as a distance can be largest: the corners of the box and
// of the l1 ball; for the l2 ball the signed axes and the signed diagonals.
std::vector<Point> Extremes(VectorShape shape, int d, double bound) {
  std::vector<Point> points;
  const double corner = shape == VectorShape::kBox ? bound : bound / std::sqrt(d);
  if (shape != VectorShape::kL1Ball) {
    for (int signs = 0; signs < 1 << d; ++signs) {
      Point x;
      for (int i = 0; i < d; ++i) x.push_back(signs >> i & 1 ? corner : -corner);
      points.push_back(x);
    }
  }
  if (shape != VectorShape::kBox) {
    for (int i = 0; i < 2 * d; ++i) {
      Point x(d, 0.0);
      x[i / 2] = i % 2 == 0 ? bound : -bound;
      points.push_back(x);
    }
  }
  return points;
}

TEST(SensitivityTest, VectorsByEnumerationOfExtremes) {
  for (const auto shape : {VectorShape::kBox, VectorShape::kL1Ball, VectorShape::kL2Ball}) {
    for (int d = 1; d <= 5; ++d) {
      const std::vector<Point> points = Extremes(shape, d, 1.5);
      for (const Norm norm : {Norm::kL1, Norm::kL2}) {
        double longest = 0;
        double farthest = 0;
        for (const Point& x : points) {
          longest = std::max(longest, Length(x, norm));
          for (const Point& y : points) {
            Point difference;
            for (int i = 0; i < d; ++i) difference.push_back(x[i] - y[i]);
            farthest = std::max(farthest, Length(difference, norm));
          }
        }
        const double add = VectorSensitivity(shape, d, 1.5, norm, Neighbours::kAddRemove).value();
        const double replace = VectorSensitivity(shape, d, 1.5, norm, Neighbours::kReplaceOne).value();
        EXPECT_NEAR(add, longest, 1e-14 * longest);
        EXPECT_NEAR(replace, farthest, 1e-14 * farthest);
      }
    }
  }
}

// The Frobenius length over sqrt2 of v v' - w w' reaches the sensitivity, and random pairs never exceed it.
TEST(SensitivityTest, SymmetricMatricesByTrial) {
  test::Coins coins(7);
  for (int d = 1; d <= 4; ++d) {
    const double replace = SymmetricSensitivity(d, 2.5, Neighbours::kReplaceOne).value();
    const double add = SymmetricSensitivity(d, 2.5, Neighbours::kAddRemove).value();
    double farthest = 0;
    double longest = 0;
    const auto draw = [&] {
      Eigen::VectorXd v(d);
      for (int i = 0; i < d; ++i) v[i] = StandardNormal(coins.gen);
      return Eigen::VectorXd(v.normalized() * std::sqrt(2.5) * (UniformUnit(coins.gen) < 0.5 ? 1 : 0.7));
    };
    for (int trial = 0; trial < 2000; ++trial) {
      const Eigen::VectorXd v = draw();
      const Eigen::VectorXd w = draw();
      farthest = std::max(farthest, (v * v.transpose() - w * w.transpose()).norm() / std::sqrt(2.0));
      longest = std::max(longest, (v * v.transpose()).norm() / std::sqrt(2.0));
    }
    EXPECT_LE(farthest, replace * (1 + 1e-14));
    EXPECT_LE(longest, add * (1 + 1e-14));
    EXPECT_NEAR(longest, add, 1e-12);
    if (d == 1) {
      EXPECT_NEAR(replace, 2.5 / std::sqrt(2.0), 1e-12);  // v = 0 and |v|^2 = 2.5
    } else {
      Eigen::VectorXd v = Eigen::VectorXd::Zero(d);
      Eigen::VectorXd w = v;
      v[0] = w[1] = std::sqrt(2.5);
      EXPECT_NEAR((v * v.transpose() - w * w.transpose()).norm() / std::sqrt(2.0), replace, 1e-12);
    }
  }
}

// The noise's log density at M + Z, entry by entry on and above the diagonal, is that of a vector of length
// |M|_F/sqrt2 with noise N(0, s^2).
TEST(SensitivityTest, SymmetricNoiseCountsFrobeniusOverSqrt2) {
  const SymmetricNoise noise = SymmetricGaussianNoise(4.2, 1.5);
  const double s = 4.2 * 1.5;
  EXPECT_NEAR(noise.off_diagonal_stddev, s, 1e-12);
  EXPECT_NEAR(noise.diagonal_stddev, std::sqrt(2.0) * s, 1e-12);
  Eigen::MatrixXd m(3, 3);
  m << 1, 2, -0.5, 2, 0.3, 4, -0.5, 4, -1;
  double squares = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = i; j < 3; ++j) {
      const double sd = i == j ? noise.diagonal_stddev : noise.off_diagonal_stddev;
      squares += m(i, j) * m(i, j) / (sd * sd);
    }
  }
  EXPECT_NEAR(squares, m.squaredNorm() / 2 / (s * s), 1e-12);
}

TEST(SensitivityTest, BadParametersAreRejectedByName) {
  for (const double bad : {0.0, -1.0, kInfinity, kNaN, 5e-324}) {
    EXPECT_EQ(
        KeyOf(VectorSensitivity(VectorShape::kBox, 2, bad, Norm::kL1, Neighbours::kReplaceOne).status()),
        "bound");
    EXPECT_EQ(KeyOf(SymmetricSensitivity(2, bad, Neighbours::kReplaceOne).status()), "squared_norm");
  }
  for (const std::int64_t bad : {std::int64_t{0}, std::int64_t{-3}, std::int64_t{1} << 60}) {
    EXPECT_EQ(
        KeyOf(VectorSensitivity(VectorShape::kBox, bad, 1, Norm::kL1, Neighbours::kReplaceOne).status()),
        "dimension");
    EXPECT_EQ(KeyOf(SymmetricSensitivity(bad, 1, Neighbours::kReplaceOne).status()), "dimension");
  }
}

}  // namespace
}  // namespace bandana
