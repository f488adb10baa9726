#include <algorithm>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>
#include <limits>

#include "bandana/core/status.h"
#include "bandana/privacy/accounting/filter.h"
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
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

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

TEST(RenyiTest, CurvesMatchIntegration) {
  for (const double b : {0.5, 2.0}) {
    const RenyiCurve laplace = RenyiCurve::Laplace(b);
    const RenyiCurve gaussian = RenyiCurve::Gaussian(b);
    for (const double order : {1.1, 2.0, 8.0}) {
      const std::size_t i = RenyiCurve::NearestOrder(order);
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
    const std::size_t i = RenyiCurve::NearestOrder(3);
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
      EXPECT_NEAR(ZcdpBudget(epsilon, delta), rho, 1e-9 * rho);
      EXPECT_LE(ZcdpEpsilon(delta, ZcdpBudget(epsilon, delta) * (1 + 1e-12)), epsilon);
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

TEST(FilterTest, FillsUpToTheBudgetAndNoFurther) {
  auto zcdp = ZcdpFilter::Create(1).value();
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(zcdp.Charge(0.125).ok()) << i;
  EXPECT_EQ(zcdp.Charge(1e-300).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(zcdp.spent(), 1);
  auto tenths = ZcdpFilter::Create(1).value();
  for (int i = 0; i < 9; ++i) EXPECT_TRUE(tenths.Charge(0.1).ok()) << i;
  EXPECT_EQ(tenths.Charge(0.1).code(), absl::StatusCode::kResourceExhausted);  // the sum of ten doubles 0.1
                                                                               // exceeds 1
  EXPECT_TRUE(zcdp.Charge(0).ok());

  auto gdp = GdpFilter::Create(2).value();
  EXPECT_EQ(gdp.Charge(2.0001).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(gdp.spent(), 0);
  for (int i = 0; i < 399; ++i) EXPECT_TRUE(gdp.Charge(0.1).ok()) << i;
  EXPECT_EQ(gdp.Charge(0.11).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_LE(gdp.spent(), gdp.budget());
  auto whole = GdpFilter::Create(0.3).value();
  EXPECT_TRUE(whole.Charge(0.3).ok());
}

TEST(FilterTest, RenyiFilterDeliversItsGuaranteeAtItsOrder) {
  const RenyiCurve one = RenyiCurve::Gaussian(20);
  const DpGuarantee guarantee{1.5, 1e-6};
  std::size_t best = 0;
  int most = 0;
  for (std::size_t order = 0; order < RenyiCurve::kOrders; ++order) {
    auto filter = RenyiFilter::ForGuarantee(guarantee, order);
    if (!filter.ok()) continue;
    int count = 0;
    while (filter->Charge(one).ok()) ++count;
    EXPECT_LE(RenyiToEpsilon(1e-6, RenyiCurve::Orders()[order], filter->budget().at(order)), 1.5);
    EXPECT_LE(filter->spent().Epsilon(1e-6), 1.5);
    if (count > most) {
      most = count;
      best = order;
    }
  }
  // At the best order the filter allows as many releases as if their number were fixed beforehand, for
  // Gaussian noise of 20 at (1.5, 1e-6).
  EXPECT_GT(most, 0);
  EXPECT_LE(one.Times(most).Epsilon(1e-6), 1.5);
  EXPECT_GT(one.Times(most + 2).Epsilon(1e-6), 1.5);
  EXPECT_EQ(best, one.Times(most).BestOrder(1e-6));
}

TEST(FilterTest, RenyiChargesMustFitAtEveryBoundedOrder) {
  RenyiCurve budget = RenyiCurve::Unbounded();
  budget.set(10, 1);
  budget.set(20, 1);
  auto filter = RenyiFilter::Create(budget).value();
  RenyiCurve charge;
  charge.set(10, 0.6);
  charge.set(30, 1e6);
  EXPECT_TRUE(filter.Charge(charge).ok());
  EXPECT_EQ(filter.Charge(charge).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(filter.spent().at(10), 0.6);
  RenyiCurve other;
  other.set(20, 0.9);
  EXPECT_TRUE(filter.Charge(other).ok());
  EXPECT_FALSE(filter.Charge(other).ok());
}

void ExpectRejected(const absl::Status& status, const std::string& key) {
  const auto error = InputErrorOf(status);
  ASSERT_TRUE(error.has_value()) << status;
  EXPECT_EQ(error->key, key);
}

TEST(FilterTest, BadNumbersAreRejectedByName) {
  for (const double bad : {0.0, -1.0, kInfinity, kNaN}) {
    ExpectRejected(ZcdpFilter::Create(bad).status(), "budget.rho");
    ExpectRejected(GdpFilter::Create(bad).status(), "budget.mu");
    ExpectRejected(RenyiFilter::ForGuarantee({bad, 1e-6}, 3).status(), "budget.epsilon");
  }
  for (const double bad : {-1.0, kInfinity, kNaN}) {
    auto zcdp = ZcdpFilter::Create(1).value();
    ExpectRejected(zcdp.Charge(bad), "charge.rho");
    EXPECT_EQ(zcdp.spent(), 0);
    auto gdp = GdpFilter::Create(1).value();
    ExpectRejected(gdp.Charge(bad), "charge.mu");
    EXPECT_EQ(gdp.spent(), 0);
  }
  ExpectRejected(RenyiFilter::ForGuarantee({1, 0}, 3).status(), "budget.delta");
  ExpectRejected(RenyiFilter::ForGuarantee({1, 1e-6}, RenyiCurve::kOrders).status(), "budget.order");
  ExpectRejected(RenyiFilter::ForGuarantee({1, 1e-6}, 0).status(), "budget.order");
  ExpectRejected(RenyiFilter::Create(RenyiCurve::Unbounded()).status(), "budget.renyi");
  RenyiCurve curve;
  curve.set(4, kNaN);
  ExpectRejected(RenyiFilter::Create(curve).status(), "budget.renyi");
  ExpectRejected(RenyiFilter::Create(RenyiCurve::Zcdp(1)).value().Charge(curve), "charge.renyi");
}

}  // namespace
}  // namespace bandana
