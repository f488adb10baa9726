#include <algorithm>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>
#include <limits>

#include "bandana/core/status.h"
#include "bandana/privacy/accounting/gdp.h"
#include "bandana/privacy/accounting/renyi.h"
#include "bandana/privacy/accounting/shuffled_ldp.h"
#include "bandana/privacy/accounting/zcdp.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace bandana {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(GdpTest, ComposesAsOneGaussian) {
  EXPECT_NEAR(ComposeGdp(3, 4), 5, 1e-14);
  EXPECT_GE(ComposeGdp(0.1, 0.2), std::sqrt(0.05));
  EXPECT_NEAR(RepeatGdp(0.5, 16), 2, 1e-14);
  EXPECT_NEAR(GdpEpsilon(1e-6, 1 / 4.2248), 1, 1e-4);
  EXPECT_GE(GdpDelta(1, 0.5), GaussianDelta(1, 2));
  EXPECT_NEAR(GdpDelta(1, 0.5), GaussianDelta(1, 2), 1e-11 * GaussianDelta(1, 2));
  EXPECT_EQ(GdpDelta(1, 0), 0);
  EXPECT_EQ(GdpEpsilon(1e-6, 0), 0);
}

// Computes the Renyi divergence D_alpha(P || Q) of two densities by quadrature.
template <class P, class Q>
double RenyiByIntegration(double order, P p, Q q, std::initializer_list<double> breaks) {
  using Rule = boost::math::quadrature::gauss_kronrod<double, 61>;
  double sum = 0;
  for (auto at = breaks.begin(); at + 1 != breaks.end(); ++at) {
    sum += Rule::integrate([&](double x) { return std::exp(order * p(x) + (1 - order) * q(x)); }, *at,
                           *(at + 1), 12, 1e-13);
  }
  return std::log(sum) / (order - 1);
}

// Returns the index of the curve's order that is nearest to `order`.
std::size_t NearestOrder(double order) {
  const auto& orders = RenyiCurve::Orders();
  return static_cast<std::size_t>(std::lower_bound(orders.begin(), orders.end(), order) - orders.begin());
}

TEST(RenyiTest, CurvesMatchIntegration) {
  for (const double b : {0.5, 2.0}) {
    const RenyiCurve laplace = RenyiCurve::Laplace(b);
    const RenyiCurve gaussian = RenyiCurve::Gaussian(b);
    for (const double order : {1.1, 2.0, 8.0}) {
      const std::size_t i = NearestOrder(order);
      const double alpha = RenyiCurve::Orders()[i];
      const auto log_laplace = [b](double x) { return -std::abs(x) / b - std::log(2 * b); };
      const double exact_laplace = RenyiByIntegration(
          alpha, log_laplace, [&](double x) { return log_laplace(x - 1); }, {-60 * b, 0, 1, 60 * b});
      EXPECT_NEAR(laplace.at(i), exact_laplace, 1e-8 * exact_laplace) << b << " " << alpha;
      EXPECT_LE(laplace.at(i), RenyiCurve::PureDp(1 / b).at(i));
      const auto log_normal = [b](double x) {
        return -x * x / (2 * b * b) - std::log(b * std::sqrt(2 * M_PI));
      };
      const double exact_gaussian = RenyiByIntegration(alpha, [&](double x) { return log_normal(x - 1); },
                                                       log_normal, {-12 * b, 0, alpha, alpha + 12 * b});
      EXPECT_NEAR(gaussian.at(i), exact_gaussian, 1e-8 * exact_gaussian) << b << " " << alpha;
    }
  }
}

TEST(RenyiTest, PureCurveIsRandomisedResponse) {
  for (const double epsilon : {1e-8, 0.01, 1.0, 20.0}) {
    const RenyiCurve curve = RenyiCurve::PureDp(epsilon);
    const double p = 1 / (1 + std::exp(-epsilon));
    const std::size_t i = NearestOrder(3);
    const double alpha = RenyiCurve::Orders()[i];
    const double q = 1 / (1 + std::exp(epsilon));
    const double exact =
        std::log(std::pow(p, alpha) * std::pow(q, 1 - alpha) + std::pow(q, alpha) * std::pow(p, 1 - alpha)) /
        (alpha - 1);
    EXPECT_GE(curve.at(i), exact - 1e-15) << epsilon;
    EXPECT_LE(curve.at(i), exact * (1 + 1e-9) + 1e-13) << epsilon;
    for (std::size_t j = 0; j < RenyiCurve::kOrders; ++j) {
      EXPECT_LE(curve.at(j), epsilon * (1 + 1e-13));
      EXPECT_GE(curve.at(j), j == 0 ? 0 : curve.at(j - 1) * (1 - 1e-9));
    }
  }
}

// The conversion from exp((alpha - 1) D) is the best pointwise bound on max(0, 1 - exp(epsilon - loss)),
// which the test finds by search.
TEST(RenyiTest, ConversionIsTheBestPointwiseBound) {
  for (const double order : {1.01, 1.5, 3.0, 40.0}) {
    const double divergence = 0.3;
    const double epsilon = 1.2;
    double largest = 0;
    for (int i = 1; i < 2'000'000; ++i) {
      const double excess = i * 1e-5;
      largest = std::max(largest, -std::expm1(-excess) * std::exp(-(order - 1) * (epsilon + excess)));
    }
    const double bound = largest * std::exp((order - 1) * divergence);
    EXPECT_NEAR(RenyiToDelta(epsilon, order, divergence), std::min(1.0, bound), 1e-8 * bound) << order;
    const double delta = 1e-5;
    EXPECT_NEAR(RenyiToDelta(RenyiToEpsilon(delta, order, divergence), order, divergence), delta,
                1e-10 * delta);
  }
}

TEST(RenyiTest, IsAboveTheTruthAndNotFarOff) {
  const RenyiCurve curve = RenyiCurve::Gaussian(10).Times(50).Plus(RenyiCurve::Gaussian(3));
  const double exact = GaussianEpsilon(1e-6, 1 / std::sqrt(0.5 + 1. / 9));
  EXPECT_GT(curve.Epsilon(1e-6), exact);
  EXPECT_LT(curve.Epsilon(1e-6), exact * 1.1);
  EXPECT_GT(curve.Delta(exact), 1e-6);
  EXPECT_LT(curve.Delta(exact), 1e-5);
  EXPECT_EQ(RenyiCurve::Unbounded().Epsilon(1e-6), kInfinity);
  EXPECT_EQ(RenyiCurve::Unbounded().Delta(3), 1);
  EXPECT_EQ(RenyiCurve().Epsilon(0.5), 0);
  EXPECT_EQ(curve.Epsilon(0), kInfinity);
}

TEST(ZcdpTest, BeatsEveryOrderOfACurveAndTheClassicFormula) {
  for (const double rho : {1e-6, 0.01, 0.5, 20.0}) {
    for (const double delta : {0.01, 1e-6, 1e-12}) {
      const double epsilon = ZcdpEpsilon(delta, rho);
      EXPECT_LE(epsilon, RenyiCurve::Zcdp(rho).Epsilon(delta) * (1 + 1e-12));
      EXPECT_GE(epsilon, RenyiCurve::Zcdp(rho).Epsilon(delta) * 0.99);
      EXPECT_LE(epsilon, rho + 2 * std::sqrt(rho * std::log(1 / delta)));  // Bun and Steinke 2016
      EXPECT_GE(epsilon, GaussianEpsilon(delta, std::sqrt(0.5 / rho)));
      if (epsilon == 0) continue;
      EXPECT_NEAR(ZcdpDelta(epsilon, rho), delta, 1e-6 * delta);
    }
  }
  EXPECT_EQ(ZcdpEpsilon(1e-6, 0), 0);
  EXPECT_EQ(ZcdpEpsilon(0, 1), kInfinity);
  EXPECT_EQ(ZcdpDelta(1, 0), 0);
}

// Computes delta of Theorem 3.2's pair by a sum over all outcomes.
double CloneDelta(double epsilon0, int n, double epsilon) {
  const double p = std::exp(-epsilon0);
  const double truthful = 1 / (1 + p);
  double delta = 0;
  double clones = std::pow(1 - p, n - 1);
  for (int c = 0; c < n; ++c) {
    double before = 0;
    double here = std::pow(0.5, c);
    for (int u = 0; u <= c + 1; ++u) {
      const double one = truthful * before + (1 - truthful) * here;
      const double other = truthful * here + (1 - truthful) * before;
      delta += clones * std::max(0.0, one - std::exp(epsilon) * other);
      before = here;
      here = u < c ? here * (c - u) / (u + 1) : 0;
    }
    clones *= p / (1 - p) * (n - 1 - c) / (c + 1);
  }
  return delta;
}

TEST(ShuffledLdpTest, MatchesEnumeration) {
  for (const double epsilon0 : {0.3, 1.0, 3.0}) {
    for (const int n : {1, 2, 30, 500}) {
      const auto loss = ShuffledLdpLoss(epsilon0, n, LossGrid(ShuffledLdpScale(epsilon0, n), 2000));
      for (const double epsilon : {0.0, 0.1, 0.25, 0.9, 2.5}) {
        const double exact = CloneDelta(epsilon0, n, epsilon);
        EXPECT_GE(loss.Delta(epsilon), exact * (1 - 1e-11)) << epsilon0 << " " << n << " " << epsilon;
        EXPECT_LE(loss.Delta(epsilon), exact * 1.02 + 1e-25) << epsilon0 << " " << n << " " << epsilon;
      }
      EXPECT_LE(loss.Epsilon(0), epsilon0 + loss.spacing());
    }
  }
}

TEST(ShuffledLdpTest, KnownFigureAndLargePopulations) {
  const auto loss = [](double epsilon0, std::int64_t n) {
    return ShuffledLdpLoss(epsilon0, n, LossGrid(ShuffledLdpScale(epsilon0, n), 400));
  };
  const double known = loss(4, 100'000).Epsilon(1e-6);
  EXPECT_NEAR(known, 0.170, 0.0005);
  const double larger = loss(4, 10'000'000).Epsilon(1e-6);
  EXPECT_LT(larger, known / 8);
  EXPECT_LT(loss(4, 100'000).SelfCompose(10).Epsilon(1e-6), 10 * known * 0.5);
}

}  // namespace
}  // namespace bandana
