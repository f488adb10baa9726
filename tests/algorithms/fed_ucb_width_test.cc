#include "bandana/algorithms/fed_ucb/fed_ucb_width.h"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <numbers>

#include "bandana/core/bit_source.h"
#include "bandana/core/distributions.h"
#include "bandana/core/generators.h"
#include "gmock/gmock.h"

namespace bandana {
namespace {

FedUcbWidthParams Params(Count silos) {
  return {.dimension = 5,
          .silos = silos,
          .releases = 16,
          .sums = 16,
          .reward_proxy = 0.5,
          .failure = 0.2,
          .noise_spread = std::sqrt(static_cast<double>(silos))};
}

TEST(FedUcbWidthTest, ErrorsNameTheKey) {
  FedUcbWidthParams params = Params(4);
  params.failure = NAN;
  EXPECT_THAT(FedUcbWidth::Create(params).status().message(), testing::HasSubstr("failure = "));
  params = Params(0);
  EXPECT_THAT(FedUcbWidth::Create(params).status().message(), testing::HasSubstr("people = "));
}

TEST(FedUcbWidthTest, WithoutNoiseTheRegularizerIsOne) {
  const Regularizer regularizer = FedUcbWidth::Create(Params(4))->RegularizerFor(0);
  EXPECT_EQ(regularizer.shift, 1);
  EXPECT_EQ(regularizer.rho_min, 1);
}

TEST(FedUcbWidthTest, OneShiftForTheSumIsSmallerThanOneForEach) {
  FedUcbWidthParams params = Params(49);
  const double group = FedUcbWidth::Create(params)->RegularizerFor(1).shift;
  params.shift = Shift::kAgent;
  const double each = FedUcbWidth::Create(params)->RegularizerFor(1).shift;
  EXPECT_GT(each, 7 * group);  // sqrt(M) times as large, and at a lower level
  EXPECT_LT(each, 10 * group);
}

TEST(FedUcbWidthTest, ThePapersLambda) {
  FedUcbWidthParams params = Params(10);
  params.shift = Shift::kAgent;
  params.paper = PaperNoise{{1, 0.1}};
  // The paper's shift: sqrt(32) m (L^2 + 1) ln(4/delta) (4 sqrt d + 2 ln(2 n M/alpha))/epsilon, m = 1 + log2
  // 16.
  const double lambda =
      std::sqrt(32.0) * 5 * 2 * std::log(40.0) * (4 * std::sqrt(5.0) + 2 * std::log(2 * 16 * 10 / 0.2));
  EXPECT_NEAR(FedUcbWidth::Create(params)->RegularizerFor(1).shift, 2 * 10 * lambda, 1e-9 * lambda);
}

// Line 1 of Algorithm 1: S starts at M rho_min I. Proposition 2 has the same terms in every round.
TEST(FedUcbWidthTest, ThePapersStart) {
  FedUcbWidthParams params = Params(10);
  params.shift = Shift::kAgent;
  params.width = RegressionWidth::kPaper;
  params.paper = PaperNoise{{1, 0.1}};
  params.orders = 1000;
  const FedUcbWidth width = FedUcbWidth::Create(params).value();
  const Regularizer start = width.StartFor(1);
  EXPECT_EQ(start.shift, width.RegularizerFor(1).rho_min);
  EXPECT_EQ(start.rho_max, 3 * start.shift);
  const double kappa =
      std::sqrt(5 * 2 * (std::sqrt(5.0) + 2 * std::log(2 * 16 * 10 / 0.2)) / std::numbers::sqrt2);
  EXPECT_NEAR(width.StartTerm(1, start), std::sqrt(start.rho_max) + kappa * std::sqrt(10.0), 1e-9);
  EXPECT_NEAR(width.DataTerm(5 * std::log(start.rho_min) + 3, start),
              0.5 * std::sqrt(2 * std::log(2 / 0.2) + 3), 1e-12);
}

TEST(FedUcbWidthTest, OurStartIsTheShiftOfTheFirstRelease) {
  const FedUcbWidth width = FedUcbWidth::Create(Params(10)).value();
  const Regularizer start = width.StartFor(1);
  EXPECT_EQ(start.shift, width.RegularizerFor(1).shift);
  EXPECT_EQ(width.StartTerm(1, start), std::sqrt(start.shift));
}

// The confidence set holds theta* in all n releases at once with probability 1 - failure. The test uses noise
// of every scale, the worst theta and few data. A valid set fails in at most 0.2 * 400 of 400 runs on
// average; more than 110 failures then have probability at most 2e-4.
TEST(FedUcbWidthTest, TheSetHoldsTheta) {
  const FedUcbWidth width = FedUcbWidth::Create(Params(4)).value();
  PhiloxSource bits({.seed = 5});
  CoinGen coin(bits);
  const Eigen::Index d = 5;
  const double noise = 3;
  int failures = 0;
  for (int run = 0; run < 400; ++run) {
    Vector theta(d);
    for (Eigen::Index j = 0; j < d; ++j) theta[j] = StandardNormal(coin);
    theta /= theta.norm();
    Matrix gram = Matrix::Zero(d, d);
    Vector moments = Vector::Zero(d);
    bool holds = true;
    for (int release = 0; release < 16; ++release) {
      for (int i = 0; i < 20; ++i) {
        Vector x(d);
        for (Eigen::Index j = 0; j < d; ++j) x[j] = StandardNormal(coin);
        x /= x.norm();
        gram += x * x.transpose();
        const double y = x.dot(theta) + (UniformUnit(coin) < 0.5 ? 0.5 : -0.5);  // the reward's error is
                                                                                 // 1/2-sub-Gaussian
        moments += y * x;
      }
      RegressionSums sums{.gram = gram, .moments = moments, .gram_noise = noise, .moment_noise = noise};
      for (Eigen::Index j = 0; j < d; ++j) {
        for (Eigen::Index k = 0; k <= j; ++k) {
          const double z = noise * StandardNormal(coin) * (j == k ? std::sqrt(2.0) : 1);
          sums.gram(j, k) += z;
          if (j != k) sums.gram(k, j) += z;
        }
        sums.moments[j] += noise * StandardNormal(coin);
      }
      const Regularizer regularizer = width.RegularizerFor(noise);
      const Matrix v = sums.gram + regularizer.shift * Matrix::Identity(d, d);
      const double least = Eigen::SelfAdjointEigenSolver<Matrix>(v).eigenvalues()[0];
      const Vector error = v.ldlt().solve(sums.moments) - theta;
      const double radius =
          width.DataTerm(std::log(v.determinant()), regularizer) + width.NoiseTerm(noise, regularizer, least);
      holds = holds && least > 0 && std::sqrt(error.dot(v * error)) <= radius;
    }
    failures += holds ? 0 : 1;
  }
  EXPECT_LE(failures, 110);
}

TEST(FedUcbWidthTest, TheNoisesPartShrinksWithData) {
  const FedUcbWidth width = FedUcbWidth::Create(Params(4)).value();
  const Regularizer regularizer = width.RegularizerFor(3);
  const double early = width.NoiseTerm(3, regularizer, regularizer.rho_min);
  EXPECT_NEAR(width.NoiseTerm(3, regularizer, 100 * regularizer.rho_min), early / 10, 1e-9 * early);
}

}  // namespace
}  // namespace bandana
