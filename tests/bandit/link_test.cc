#include "bandana/bandit/link.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <boost/math/differentiation/finite_difference.hpp>
#include <cmath>
#include <numbers>

#include "bandana/bandit/linear_problem.h"
#include "bandana/bandit/worlds/linear_population.h"
#include "bandana/core/status.h"

namespace bandana {
namespace {

constexpr Link kLinks[] = {Link::kIdentity, Link::kLogistic, Link::kProbit};

double Derivative(auto f, double x) {
  return boost::math::differentiation::finite_difference_derivative(f, x);
}

TEST(LinkTest, LogisticHasKnownValues) {
  EXPECT_DOUBLE_EQ(MeanOf(Link::kLogistic, 0), 0.5);
  EXPECT_NEAR(MeanOf(Link::kLogistic, 1), 0.7310585786300049, 1e-15);
  EXPECT_NEAR(MeanOf(Link::kLogistic, -1), 0.2689414213699951, 1e-15);
  EXPECT_NEAR(1 / PredictorSlope(Link::kLogistic, MeanOf(Link::kLogistic, 1)), 0.19661193324148185, 1e-15);
  EXPECT_DOUBLE_EQ(PredictorSlope(Link::kLogistic, 0.5), 4);
  EXPECT_DOUBLE_EQ(PredictorCurvature(Link::kLogistic, 0.5), 0);
}

TEST(LinkTest, ProbitHasKnownValues) {
  EXPECT_DOUBLE_EQ(MeanOf(Link::kProbit, 0), 0.5);
  EXPECT_NEAR(MeanOf(Link::kProbit, 1), 0.8413447460685429, 1e-15);
  EXPECT_NEAR(PredictorOf(Link::kProbit, 0.975), 1.959963984540054, 1e-14);
  EXPECT_NEAR(PredictorSlope(Link::kProbit, 0.5), 2.5066282746310002, 1e-14);
  EXPECT_NEAR(PredictorCurvature(Link::kProbit, 0.8413447460685429),
              1 / (0.24197072451914337 * 0.24197072451914337), 1e-10);
}

TEST(LinkDeathTest, PoissonHasAParameterThatIsNotHere) {
  EXPECT_DEATH(MeanOf(Link::kPoisson, 0.5), "mean_function.h");
  EXPECT_DEATH(PredictorOf(Link::kPoisson, 0.5), "mean_function.h");
  EXPECT_DEATH(PredictorSlope(Link::kPoisson, 0.5), "mean_function.h");
  EXPECT_DEATH(PredictorCurvature(Link::kPoisson, 0.5), "mean_function.h");
}

TEST(LinkTest, DerivativesAreThoseOfThePredictor) {
  for (const Link link : kLinks) {
    for (double mean = 0.05; mean < 1; mean += 0.05) {
      EXPECT_NEAR(PredictorOf(link, MeanOf(link, 3 * mean - 1)), 3 * mean - 1, 1e-14);
      EXPECT_NEAR(Derivative([&](double p) { return PredictorOf(link, p); }, mean),
                  PredictorSlope(link, mean), 1e-6 * PredictorSlope(link, mean));
      EXPECT_NEAR(Derivative([&](double p) { return PredictorSlope(link, p); }, mean),
                  PredictorCurvature(link, mean), 1e-5 * (1 + std::abs(PredictorCurvature(link, mean))));
    }
  }
}

// Widths rest on this contract of link.h.
TEST(LinkTest, SlopeAndCurvatureAreLargestAtAnEnd) {
  for (const Link link : kLinks) {
    constexpr int kGrid = 99;
    const auto slope = [&](int i) { return PredictorSlope(link, (i + 1) / (kGrid + 1.)); };
    const auto curvature = [&](int i) { return std::abs(PredictorCurvature(link, (i + 1) / (kGrid + 1.))); };
    for (int low = 0; low < kGrid; low += 7) {
      for (int high = low; high < kGrid; high += 5) {
        for (int i = low; i <= high; ++i) {
          EXPECT_GT(slope(i), 0);
          EXPECT_LE(slope(i), std::max(slope(low), slope(high)) * (1 + 1e-12));
          EXPECT_LE(curvature(i), std::max(curvature(low), curvature(high)) * (1 + 1e-12));
        }
      }
    }
  }
}

TEST(ExtendedPredictorTest, IsThePredictorInsideAndALineOutside) {
  const Interval means{0.3, 0.6};
  const ExtendedPredictor predictor(Link::kLogistic, means);
  for (double p = 0.3; p < 0.6; p += 0.01) EXPECT_EQ(predictor(p), PredictorOf(Link::kLogistic, p));
  EXPECT_NEAR(predictor(-5), PredictorOf(Link::kLogistic, 0.3) - 5.3 / 0.21, 1e-12);
  EXPECT_NEAR(predictor(5), PredictorOf(Link::kLogistic, 0.6) + 4.4 / 0.24, 1e-12);
  EXPECT_NEAR(predictor(0.3 + 1e-9), predictor(0.3 - 1e-9), 1e-7);
  EXPECT_NEAR(predictor.SteepestSlope({-9, 9}), 1 / 0.21, 1e-12);
  EXPECT_NEAR(predictor.SteepestSlope({0.55, 9}), 1 / 0.24, 1e-12);
  EXPECT_NEAR(predictor.SteepestSlope({0.4, 0.45}), 1 / 0.24, 1e-12);
  EXPECT_NEAR(predictor.LargestCurvature({-9, 9}), 0.4 / (0.21 * 0.21), 1e-12);
}

RC_GTEST_PROP(ExtendedPredictorTest, SlopesAndCurvaturesBoundWhatTheyClaim, ()) {
  const auto number = [] { return *rc::gen::inRange(-100, 200) / 100.; };
  const ExtendedPredictor predictor(Link::kLogistic, {0.27, 0.73});
  const double from = number(), x = number(), y = number(), to = number();
  const Interval span{std::min({from, x, y, to}), std::max({from, x, y, to})};
  const double rise = predictor(std::max(x, y)) - predictor(std::min(x, y));
  RC_ASSERT(rise >= 0);
  RC_ASSERT(rise <= predictor.SteepestSlope(span) * std::abs(x - y) + 1e-12);
  const double tangent = (predictor(x + 1e-6) - predictor(x - 1e-6)) / 2e-6;
  RC_ASSERT(std::abs(predictor(y) - predictor(x) - tangent * (y - x)) <=
            predictor.LargestCurvature(span) * (y - x) * (y - x) / 2 + 1e-4);
}

LinearProblem Logistic() {
  ActionMatrix actions(3, 2);
  actions << 1, 0, 0, 1, 0.6, 0.8;
  auto linear = LinearProblem::Create(actions, Eigen::Vector2d(0.8, -0.6));
  return (*std::move(linear)).Through(Link::kLogistic);
}

TEST(GeneralizedLinearProblemTest, MeansAndRegretGoThroughTheLink) {
  const LinearProblem problem = Logistic();
  EXPECT_EQ(problem.link(), Link::kLogistic);
  EXPECT_EQ(problem.best(), 0);
  EXPECT_DOUBLE_EQ(problem.optimum(), MeanOf(Link::kLogistic, 0.8));
  EXPECT_DOUBLE_EQ(problem.means()[1], MeanOf(Link::kLogistic, -0.6));
  EXPECT_DOUBLE_EQ(problem.Gap(2), MeanOf(Link::kLogistic, 0.8) - 0.5);
  EXPECT_DOUBLE_EQ(problem.Gap(0), 0);
}

TEST(GeneralizedLinearProblemTest, ClientsDrawWithThoseMeans) {
  const auto problem = std::make_shared<const LinearProblem>(Logistic());
  auto population = LinearPopulation::Create({.problem = problem,
                                              .reward = {.kind = RewardKind::kBernoulli},
                                              .client_sd = 0,
                                              .size = 10,
                                              .seed = 3});
  ASSERT_TRUE(population.ok()) << population.status();
  constexpr Count kPulls = 1'000'000;
  const std::vector<Pull> pulls = {{0, kPulls}, {1, kPulls}, {2, kPulls}};
  std::vector<RewardSum> rewards(3);
  ASSERT_TRUE(population->Answer({4}, 1, pulls, rewards).ok());
  for (int arm = 0; arm < 3; ++arm) {  // six standard deviations: false-alarm rate below 1e-8
    EXPECT_NEAR(rewards[arm].sum / kPulls, problem->means()[arm], 3 / std::sqrt(kPulls));
  }
}

// The mean over clients who differ is mu_s of the common predictor, not mu of it.
TEST(GeneralizedLinearProblemTest, ClientsWhoDifferHaveTheMeanOfTheSpreadLink) {
  const auto problem = std::make_shared<const LinearProblem>(Logistic());
  constexpr double kSpread = 0.9;
  constexpr std::uint32_t kClients = 20'000;
  auto population = LinearPopulation::Create({.problem = problem,
                                              .reward = {.kind = RewardKind::kBernoulli},
                                              .client_sd = kSpread,
                                              .size = kClients,
                                              .seed = 3});
  ASSERT_TRUE(population.ok()) << population.status();
  const std::vector<Pull> pulls = {{0, 100}};
  std::vector<RewardSum> rewards(1);
  double sum = 0;
  for (std::uint32_t client = 1; client <= kClients; ++client) {
    ASSERT_TRUE(population->Answer({client}, 1, pulls, rewards).ok());
    sum += rewards[0].sum / 100;
  }
  const double norm = problem->actions().row(0).norm();
  const double predictor = problem->actions().row(0).dot(problem->theta());
  // A client's average has a standard deviation below 0.22: six standard errors are 0.0093.
  EXPECT_NEAR(sum / kClients, SpreadLink(Link::kLogistic, kSpread * norm).MeanOf(predictor), 0.0093);
  EXPECT_GT(std::abs(sum / kClients - problem->means()[0]), 0.0093);
}

TEST(SpreadLinkTest, IsTheMeanOverClientsAndItsInverse) {
  for (const Link link : {Link::kLogistic, Link::kProbit}) {
    for (const double spread : {0.0, 0.1, 1.0}) {
      const SpreadLink mean(link, spread);
      for (const double predictor : {-1.0, -0.3, 0.0, 0.7, 1.0}) {
        double expected = 0;  // by another rule than the code's
        constexpr int kSteps = 4000;
        for (int i = 0; i < kSteps; ++i) {
          const double z = -8 + 16 * (i + 0.5) / kSteps;
          expected += 16. / kSteps * std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi) *
                      MeanOf(link, predictor + spread * z);
        }
        EXPECT_NEAR(mean.MeanOf(predictor), expected, 1e-9) << spread << " " << predictor;
        EXPECT_NEAR(mean.PredictorOf(mean.MeanOf(predictor)), predictor, 1e-11);
        constexpr double kStep = 1e-4;
        const double at = mean.MeanOf(predictor);
        const double low = mean.PredictorOf(at - kStep), high = mean.PredictorOf(at + kStep);
        EXPECT_NEAR(mean.PredictorSlope(at), (high - low) / (2 * kStep), 1e-4);
        EXPECT_NEAR(mean.PredictorCurvature(at), (high - 2 * predictor + low) / (kStep * kStep), 1e-2);
      }
      if (spread > 0) {
        EXPECT_LT(mean.MeanOf(1), MeanOf(link, 1)) << "it is flatter";
      }
    }
  }
}

}  // namespace
}  // namespace bandana
