#include "bandana/bandit/context_law.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "bandana/bandit/context_coordinates.h"
#include "bandana/core/distributions.h"
#include "bandana/core/status.h"
#include "tests/support.h"

namespace bandana {
namespace {

using ::testing::HasSubstr;

ActionMatrix Rows(Eigen::Index cols, const std::vector<double>& entries) {
  return Eigen::Map<const ActionMatrix>(entries.data(), static_cast<Eigen::Index>(entries.size()) / cols,
                                        cols);
}

Vector Of(const std::vector<double>& entries) {
  return Eigen::Map<const Vector>(entries.data(), static_cast<Eigen::Index>(entries.size()));
}

ActionMatrix RandomRows(Eigen::Index rows, Eigen::Index cols, std::uint64_t seed) {
  test::Coins coins(seed);
  ActionMatrix matrix(rows, cols);
  for (double& entry : matrix.reshaped()) entry = StandardNormal(coins.gen);
  return matrix.rowwise().normalized();
}

TEST(PickActionTest, TheBestAndOfEqualsTheFirst) {
  const ActionMatrix context = Rows(2, {0.5, 0, 0, 1, 0.5, 0.1, 0.5, -0.1});
  EXPECT_EQ(PickAction(context, Of({1, 1})), 1);
  EXPECT_EQ(PickAction(context, Of({1, 0})), 0);  // three actions tie
  EXPECT_EQ(PickAction(context, Of({1, -1})), 3);
  EXPECT_EQ(PickAction(context, Of({0, 0})), 0);
}

// If d = 3, a coordinate is uniform on [-1, 1]. If d = 2, E max(cos A, cos B) = E|sin((A+B)/2) sin((A-B)/2)|
// = 4/pi^2.
TEST(SphereContextsTest, ScalesKnownInClosedForm) {
  for (const Count k : {2, 3, 10, 1000, 1'000'000}) {
    const auto n = static_cast<double>(k);
    EXPECT_NEAR(MeanLargestSphereCoordinate(3, k), (n - 1) / (n + 1), 1e-11) << k;
    EXPECT_DOUBLE_EQ(MeanLargestSphereCoordinate(1, k), 1 - std::pow(2, 1 - n)) << k;
  }
  EXPECT_NEAR(MeanLargestSphereCoordinate(2, 2), 4 / (std::numbers::pi * std::numbers::pi), 1e-12);
  // In many dimensions sqrt(d) U_1 is nearly normal, and E max of two normals is 1/sqrt(pi).
  EXPECT_NEAR(std::sqrt(4000.0) * MeanLargestSphereCoordinate(4000, 2), 1 / std::sqrt(std::numbers::pi),
              1e-3);
}

TEST(SphereContextsTest, TailsAreIncompleteBetas) {
  for (const Count dimension : {2, 3, 4, 5, 12, 63, 64, 65, 300}) {
    for (const double t : {0.0, 1e-3, 0.2, 0.7, 0.999}) {
      const double expected = 0.5 * boost::math::ibetac(0.5, (static_cast<double>(dimension) - 1) / 2, t * t);
      EXPECT_NEAR(SphereCoordinateTail(dimension, t), expected, 2e-15) << dimension << " " << t;
      EXPECT_NEAR(SphereCoordinateTail(dimension, -t), 1 - expected, 2e-15) << dimension << " " << t;
    }
    EXPECT_EQ(SphereCoordinateTail(dimension, 1), 0);
    EXPECT_EQ(SphereCoordinateTail(dimension, -1.5), 1);
  }
}

// Computes E max by the quantile, as the integral of K q(p) p^(K-1); for d = 2, q(p) = -cos(pi p).
TEST(SphereContextsTest, ScaleByAnotherIntegral) {
  for (const int k : {2, 5, 40}) {
    const auto f = [k](double p) { return -k * std::cos(std::numbers::pi * p) * std::pow(p, k - 1); };
    const double expected = boost::math::quadrature::gauss_kronrod<double, 61>::integrate(f, 0, 1, 10, 1e-13);
    EXPECT_NEAR(MeanLargestSphereCoordinate(2, k), expected, 1e-11) << k;
  }
}

TEST(RotationInvariantContextsTest, GIsAMultipleOfTheta) {
  const auto sphere = SphereContexts::Create(5, 3);
  ASSERT_TRUE(sphere.ok());
  const ActionMatrix thetas = Rows(3, {2, 0, 0, 0.1, 0.1, -0.1});
  const auto responses = (*sphere)->Responses(thetas);
  ASSERT_TRUE(responses.has_value());
  EXPECT_NEAR((*responses)(0, 0), 4.0 / 6, 1e-11);
  EXPECT_NEAR((*responses)(0, 1), 0, 1e-15);
  EXPECT_NEAR((*responses)(1, 2), -4.0 / 6 / std::sqrt(3.0), 1e-11);
}

std::shared_ptr<const ClusterContexts> ThreeClusters(Count actions, double radius = 0.4) {
  auto law = ClusterContexts::Create({.actions = actions,
                                      .centres = Rows(3, {0.6, 0, 0, -0.2, 0.3, 0.1, 0, 0, -0.5}),
                                      .weights = {0.5, 0.2, 0.3},
                                      .radius = radius});
  EXPECT_TRUE(law.ok()) << law.status();
  return *law;
}

// Computes E max of the scores <phi_k, theta> from its distribution function, as the integral of 1 - F^K. Its
// gradient in theta is g (the envelope theorem), so differences of it give g without any of g's code.
double MeanBestScore(const Vector& theta, Count actions, const ActionMatrix& centres,
                     const std::vector<double>& weights, double radius) {
  const double norm = theta.norm();
  const Vector heights = centres * theta / norm;
  const auto cdf = [&](double v) {
    double below = 0;
    for (Eigen::Index b = 0; b < heights.size(); ++b) {
      below += weights[static_cast<std::size_t>(b)] *
               (1 - SphereCoordinateTail(theta.size(), (v - heights[b]) / radius));
    }
    return below;
  };
  const auto f = [&](double v) { return 1 - std::pow(cdf(v), static_cast<double>(actions)); };
  std::vector<double> edges = {-1, 1};
  for (const double height : heights) edges.insert(edges.end(), {height - radius, height + radius});
  std::sort(edges.begin(), edges.end());
  double above = -1;
  for (std::size_t i = 1; i < edges.size();
       ++i) {  // F is linear between edges, so the rule is exact for K <= 90
    above += boost::math::quadrature::gauss_kronrod<double, 61>::integrate(f, edges[i - 1], edges[i], 0, 0);
  }
  return norm * above;
}

TEST(ClusterContextsTest, GIsTheGradientOfTheMeanBestScore) {
  const ActionMatrix centres = Rows(3, {0.6, 0, 0, -0.2, 0.3, 0.1, 0, 0, -0.5});
  const std::vector<double> weights = {0.5, 0.2, 0.3};
  const ActionMatrix thetas = RandomRows(4, 3, 1);
  for (const Count actions : {2, 7, 50}) {
    for (const double radius : {0.4, 0.05}) {
      const ActionMatrix responses = *ThreeClusters(actions, radius)->Responses(thetas);
      for (Eigen::Index j = 0; j < thetas.rows(); ++j) {
        const Vector theta = thetas.row(j);
        EXPECT_NEAR(responses.row(j).dot(theta), MeanBestScore(theta, actions, centres, weights, radius),
                    1e-9);
        constexpr double kStep = 3e-6;
        for (int i = 0; i < 3; ++i) {
          const Vector step = kStep * Vector::Unit(3, i);
          const double slope = (MeanBestScore(theta + step, actions, centres, weights, radius) -
                                MeanBestScore(theta - step, actions, centres, weights, radius)) /
                               (2 * kStep);
          EXPECT_NEAR(responses(j, i), slope, 1e-6) << actions << " " << radius << " " << j << " " << i;
        }
      }
    }
  }
}

TEST(ClusterContextsTest, OneClusterAtTheCentreIsTheSphere) {
  for (const Count dimension : {2, 3, 6}) {
    const auto cluster = ClusterContexts::Create(
        {.actions = 9, .centres = ActionMatrix::Zero(1, dimension), .weights = {1}, .radius = 1});
    const auto sphere = SphereContexts::Create(9, dimension);
    ASSERT_TRUE(cluster.ok() && sphere.ok());
    const ActionMatrix thetas = RandomRows(3, dimension, 2);
    EXPECT_TRUE((*cluster)->Responses(thetas)->isApprox(*(*sphere)->Responses(thetas), 1e-10)) << dimension;
  }
}

TEST(ClusterContextsTest, ClustersWinWithProbabilityOneInAll) {
  for (const Count dimension : {2, 3, 8}) {
    for (const Count copies : {2, 30, 2000}) {
      const Vector heights = Of({0.3, -0.5, 0.1});
      double total = 0;
      for (const Eigen::Index b : {0, 1, 2}) {
        total += WinOfCluster(dimension, copies, heights, {0.2, 0.3, 0.5}, 0.4, b).probability;
      }
      EXPECT_NEAR(total, 1, 1e-10) << dimension << " " << copies;
    }
  }
}

TEST(SampledContextsTest, GIsTheMeanOfThePicksTiesIncluded) {
  // Actions lie on a coarse grid, so that many scores tie. Policies along the axes tie most.
  test::Coins coins(3);
  ActionMatrix stacked(60, 2);
  for (double& entry : stacked.reshaped()) entry = (static_cast<double>(UniformBelow(3, coins.gen)) - 1) / 2;
  const auto law = SampledContexts::Create(stacked, 6);
  ASSERT_TRUE(law.ok()) << law.status();
  EXPECT_EQ((*law)->size(), 10);
  const ActionMatrix thetas = Rows(2, {1, 0, 0, 1, -1, 0, 1, 1, 0.3, -0.3, 1e-3, 1e3});
  const ActionMatrix responses = *(*law)->Responses(thetas);
  for (Eigen::Index j = 0; j < thetas.rows(); ++j) {
    Vector mean = Vector::Zero(2);
    for (int c = 0; c < 10; ++c) {
      const ActionMatrix context = stacked.middleRows(6 * c, 6);
      mean += context.row(PickAction(context, thetas.row(j))) / 10;
    }
    EXPECT_TRUE(mean.isApprox(responses.row(j).transpose(), 1e-14)) << j;
  }
}

TEST(SampledContextsTest, DrawsEveryContextAlikeOften) {
  const auto law = SampledContexts::Create(Rows(1, {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}), 2);
  ASSERT_TRUE(law.ok());
  test::Coins coins(4);
  ActionMatrix context(2, 1);
  std::vector<double> counts(3);
  for (int i = 0; i < 3000; ++i) {
    (*law)->Draw(coins.gen, context);
    ASSERT_NEAR(context(1, 0) - context(0, 0), 0.1, 1e-15);
    ++counts[static_cast<std::size_t>(std::lround((context(0, 0) - 0.1) * 5))];
  }
  EXPECT_TRUE(test::FitsCounts(counts, std::vector<double>(3, 1000)));
}

TEST(ContextLawTest, ActionsStayInTheBallAndMeansInTheirInterval) {
  std::vector<std::shared_ptr<const ContextLaw>> laws = {*SphereContexts::Create(4, 3),
                                                         *GaussianContexts::Create(4, 3), ThreeClusters(4),
                                                         *SampledContexts::Create(RandomRows(40, 3, 5), 4)};
  const Vector theta = Of({0.3, -0.5, 0.2});
  for (const auto& law : laws) {
    test::Coins coins(6);
    const Interval means = law->Means(theta);
    ActionMatrix context(4, 3);
    for (int i = 0; i < 200; ++i) {
      law->Draw(coins.gen, context);
      ASSERT_EQ(context.rows(), 4);
      ASSERT_LE(context.rowwise().norm().maxCoeff(), 1 + 1e-12);
      const Vector scores = context * theta;
      ASSERT_GE(scores.minCoeff(), means.low - 1e-12);
      ASSERT_LE(scores.maxCoeff(), means.high + 1e-12);
    }
  }
}

TEST(SampleResponsesTest, ErrorIsHoeffdings) {
  test::Coins coins(7);
  const auto law = SphereContexts::Create(4, 3);
  const ActionMatrix thetas = RandomRows(50, 3, 8);
  const auto sampled = SampleResponses(**law, thetas, 2000, 1e-6, coins.gen);
  ASSERT_TRUE(sampled.ok());
  EXPECT_NEAR(sampled->error, std::sqrt(2 * std::log(2 * 50 / 1e-6) / 2000), 1e-12);
  const Vector theta = Of({0.6, 0, 0.8});
  const Vector off = (sampled->responses - *(*law)->Responses(thetas)) * theta;
  EXPECT_LE(off.cwiseAbs().maxCoeff(), sampled->error);
  EXPECT_GT(off.cwiseAbs().maxCoeff(), 0);
  EXPECT_FALSE(SampleResponses(**law, thetas, 0, 1e-6, coins.gen).ok());
}

TEST(ContextLawTest, BadSizesAreRefusedByName) {
  const auto key = [](const auto& made) {
    return made.ok() ? "accepted" : InputErrorOf(made.status()).value_or(InputError{}).key;
  };
  for (const Count bad : {-1, 0, 1, 1 << 24}) {
    EXPECT_EQ(key(SphereContexts::Create(bad, 3)), "actions") << bad;
    EXPECT_EQ(key(GaussianContexts::Create(bad, 3)), "actions") << bad;
    EXPECT_EQ(key(ClusterContexts::Two(bad, 3)), "actions") << bad;
  }
  for (const Count bad : {-1, 0}) {
    EXPECT_EQ(key(SphereContexts::Create(3, bad)), "dimension") << bad;
    EXPECT_EQ(key(ClusterContexts::Two(3, bad)), "dimension") << bad;
  }
  EXPECT_EQ(key(ClusterContexts::Two(3, 1)), "dimension");
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const auto clusters = [&](auto change) {
    ClusterContexts::Params params{
        .actions = 3, .centres = Rows(2, {0.5, 0, 0, 0.5}), .weights = {0.5, 0.5}, .radius = 0.5};
    change(params);
    return key(ClusterContexts::Create(params));
  };
  EXPECT_EQ(clusters([](auto&) {}), "accepted");
  for (const double bad : {0.0, -0.1, 0.6, kNan}) {
    EXPECT_EQ(clusters([&](auto& params) { params.radius = bad; }), "contexts") << bad;
    EXPECT_EQ(clusters([&](auto& params) { params.weights[0] = bad; }), "contexts") << bad;
  }
  EXPECT_EQ(clusters([&](auto& params) { params.weights.pop_back(); }), "contexts");
  EXPECT_EQ(clusters([&](auto& params) { params.centres(0, 0) = kNan; }), "contexts");
  EXPECT_EQ(key(SampledContexts::Create(Rows(2, {1, 1}), 1)), "contexts");
  EXPECT_EQ(key(SampledContexts::Create(Rows(2, {kNan, 0}), 1)), "contexts");
  EXPECT_EQ(key(SampledContexts::Create(ActionMatrix(0, 2), 1)), "contexts");
}

class ReadContextsTest : public ::testing::Test {
 protected:
  std::string Written(const std::string& text) const {
    std::ofstream(path_) << text;
    return path_;
  }
  void TearDown() override { std::filesystem::remove(path_); }

 private:
  std::string path_ = ::testing::TempDir() + "contexts_" +
                      ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".csv";
};

TEST_F(ReadContextsTest, OneContextALine) {
  const auto law = ReadContexts(Written("# two actions in the plane\n1,0, 0,1\n\n0.5,0.5,-0.5,0\r\n"), 2, 2);
  ASSERT_TRUE(law.ok()) << law.status();
  EXPECT_EQ((*law)->size(), 2);
  const ActionMatrix responses = *(*law)->Responses(Rows(2, {1, 0, 0, 1}));
  EXPECT_TRUE(responses.isApprox(Rows(2, {0.75, 0.25, 0.25, 0.75})));
}

TEST_F(ReadContextsTest, ErrorsNameFileAndLine) {
  const auto error = [&](const std::string& text) {
    const auto law = ReadContexts(Written(text), 2, 2);
    return law.ok() ? InputError{} : InputErrorOf(law.status()).value_or(InputError{});
  };
  EXPECT_EQ(error("1,0,0,1\n1,0,x,1\n").line, 2);
  EXPECT_EQ(error("1,0,0,1\n1,0,x,1\n").value, "x");
  EXPECT_EQ(error("#\n1,0,0\n").line, 2);
  EXPECT_THAT(error("#\n1,0,0\n").value, HasSubstr("3 numbers"));
  EXPECT_EQ(error("1,0,nan,1\n").line, 1);
  EXPECT_EQ(error("1,0,inf,1\n").line, 1);
  EXPECT_EQ(error("1,0,0,1\n\n1,0,0.8,0.7\n").line, 3);
  EXPECT_THAT(error("1,0,0,1\n\n1,0,0.8,0.7\n").message, HasSubstr("action 2"));
  EXPECT_THAT(error("# nothing\n").message, HasSubstr("no context"));
  for (const char* bad : {"1,0,x,1\n", "1,0\n", "9,0,0,1\n", "#"}) {
    EXPECT_EQ(error(bad).key, "file");
    EXPECT_THAT(error(bad).file, HasSubstr("contexts_")) << bad;
  }
  EXPECT_EQ(InputErrorOf(ReadContexts("/nonexistent.csv", 2, 2).status())->key, "file");
  EXPECT_EQ(InputErrorOf(ReadContexts("/nonexistent.csv", 0, 2).status())->key, "actions");
  EXPECT_EQ(InputErrorOf(ReadContexts("/nonexistent.csv", 2, -1).status())->key, "dimension");
}

}  // namespace
}  // namespace bandana
