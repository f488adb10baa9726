#include "bandana/bandit/glm_problem.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "bandana/core/status.h"
#include "tests/support.h"

namespace bandana {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string BadKey(const GlmProblemParams& params) {
  const auto error = InputErrorOf(GlmProblem::Draw(params, 1, 0).status());
  return error.has_value() ? error->key : "";
}

GlmProblemParams Linear() { return {.dimension = 5, .arms = 4, .reward = {.sd = 0.1}}; }

GlmProblemParams With(Link link, Count bound = 0) {
  GlmProblemParams params = Linear();
  params.mean = *MeanFunction::Create(link, bound);
  params.reward = {.kind = RewardKind::kBernoulli};
  return params;
}

template <class Change>
std::string BadKeyOf(GlmProblemParams params, Change change) {
  change(params);
  return BadKey(params);
}

TEST(GlmProblemTest, RejectsBadParametersByName) {
  EXPECT_EQ(BadKey(Linear()), "");
  for (const Count bad : {Count{-1}, Count{0}, Count{1} << 24}) {
    EXPECT_EQ(BadKeyOf(Linear(), [=](auto& p) { p.dimension = bad; }), "dimension");
  }
  for (const Count bad : {Count{-1}, Count{0}, Count{1}, Count{1} << 23}) {
    EXPECT_EQ(BadKeyOf(Linear(), [=](auto& p) { p.arms = bad; }), "actions");
  }
  for (const double bad : {-1., 0., 5e-324, 101., kNan, kInfinity}) {
    EXPECT_EQ(BadKeyOf(Linear(), [=](auto& p) { p.theta_norm = bad; }), "theta_norm");
  }
  for (const double bad : {-1e-9, kNan, kInfinity}) {
    EXPECT_EQ(BadKeyOf(Linear(), [=](auto& p) { p.reward.sd = bad; }), "reward_sd");
  }
  EXPECT_EQ(BadKeyOf(Linear(), [](auto& p) { p.reward.sd = 0; }), "");
  EXPECT_EQ(BadKeyOf(Linear(), [](auto& p) { p.reward.kind = RewardKind::kBernoulli; }), "reward");
  EXPECT_EQ(BadKeyOf(Linear(), [](auto& p) { p.reward.mean_varies = true; }), "reward");
  EXPECT_EQ(BadKeyOf(Linear(), [](auto& p) { p.margin = 1; }), "margin");
  for (const RewardKind kind : {RewardKind::kRademacher, RewardKind::kUniform}) {
    GlmProblemParams bounded = Linear();
    bounded.reward.kind = kind;
    EXPECT_EQ(BadKey(bounded), "");
    EXPECT_EQ(BadKeyOf(bounded, [](auto& p) { p.theta_norm = 1.1; }), "theta_norm");
    EXPECT_EQ(BadKeyOf(bounded, [](auto& p) { p.contexts = UserContexts::kGaussian; }), "reward");
  }
}

TEST(GlmProblemTest, LinksHaveTheirRewards) {
  for (const Link link : {Link::kLogistic, Link::kProbit}) {
    EXPECT_EQ(BadKey(With(link)), "");
    EXPECT_EQ(BadKeyOf(With(link), [](auto& p) { p.reward.kind = RewardKind::kGaussian; }), "reward");
    EXPECT_EQ(GlmProblem::Draw(With(link), 1, 0)->support(), (Interval{0, 1}));
  }
  EXPECT_EQ(GlmProblem::Draw(With(Link::kPoisson, 6), 1, 0)->support(), (Interval{0, 6}));
  EXPECT_EQ(GlmProblem::Draw(Linear(), 1, 0)->support(), std::nullopt);
  GlmProblemParams exact = Linear();
  exact.reward.sd = 0;
  exact.theta_norm = 0.5;
  EXPECT_EQ(GlmProblem::Draw(exact, 1, 0)->support(), (Interval{-0.5, 0.5}));
}

TEST(GlmProblemTest, MarginsAreForTwoArmsOfALinearProblem) {
  GlmProblemParams margin{
      .dimension = 3, .arms = 2, .contexts = UserContexts::kMargin, .margin = 0.5, .reward = {.sd = 0.1}};
  EXPECT_EQ(BadKey(margin), "");
  EXPECT_EQ(BadKeyOf(margin, [](auto& p) { p.dimension = 1; }), "dimension");
  EXPECT_EQ(BadKeyOf(margin, [](auto& p) { p.arms = 3; }), "actions");
  EXPECT_EQ(BadKeyOf(margin, [](auto& p) { p.parameters = ParameterKind::kMulti; }), "");
  const auto multi = [](auto& p, Count dimension, Count arms) {
    p.parameters = ParameterKind::kMulti;
    p.dimension = dimension;
    p.arms = arms;
  };
  EXPECT_EQ(BadKeyOf(margin, [&](auto& p) { multi(p, 3, 5); }), "");
  EXPECT_EQ(BadKeyOf(margin, [&](auto& p) { multi(p, 2, 5); }), "dimension");
  EXPECT_EQ(BadKeyOf(margin, [&](auto& p) { multi(p, 3, 1); }), "actions");
  EXPECT_EQ(BadKeyOf(margin, [](auto& p) { p.mean = MeanFunction(Link::kLogistic); }), "link");
  for (const double bad : {0., -1., 101., kNan, kInfinity}) {
    EXPECT_EQ(BadKeyOf(margin, [=](auto& p) { p.margin = bad; }), "margin");
  }
}

TEST(GlmProblemTest, ThetasAreOfTheReplicate) {
  GlmProblemParams params = Linear();
  params.theta_norm = 3;
  const auto single = GlmProblem::Draw(params, 5, 2);
  EXPECT_EQ(single->thetas().rows(), 1);
  EXPECT_NEAR(single->thetas().norm(), 3, 1e-14);
  EXPECT_EQ(single->thetas(), GlmProblem::Draw(params, 5, 2)->thetas());
  EXPECT_NE(single->thetas(), GlmProblem::Draw(params, 5, 3)->thetas());
  EXPECT_NE(single->thetas(), GlmProblem::Draw(params, 6, 2)->thetas());
  params.parameters = ParameterKind::kMulti;
  const auto multi = GlmProblem::Draw(params, 5, 2);
  ASSERT_EQ(multi->thetas().rows(), 4);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(multi->thetas().row(i).norm(), 3, 1e-14);
  EXPECT_NE(multi->thetas().row(0), multi->thetas().row(1));
}

TEST(GlmProblemTest, TheErrorOfEstimatesIsTheSumOfTheirDistances) {
  ActionMatrix thetas(2, 2);
  thetas << 0.6, 0.8, 1, 0;
  GlmProblemParams params = Linear();
  params.parameters = ParameterKind::kMulti;
  params.dimension = params.arms = 2;
  const auto problem = GlmProblem::Create(params, thetas);
  EXPECT_DOUBLE_EQ(problem->EstimationError(std::vector<double>{0.6, 0.8, 1, 0}), 0);
  EXPECT_DOUBLE_EQ(problem->EstimationError(std::vector<double>{0, 0, 1, 2}), 1 + 2);
  EXPECT_TRUE(std::isnan(problem->EstimationError(std::vector<double>{0, 0}))) << "one theta is missing";
}

TEST(GlmProblemTest, GivenThetasMustFit) {
  ActionMatrix thetas = ActionMatrix::Zero(1, 5);
  EXPECT_FALSE(GlmProblem::Create(Linear(), thetas).ok());
  thetas(0, 1) = 1;
  EXPECT_TRUE(GlmProblem::Create(Linear(), thetas).ok());
  thetas(0, 0) = 0.1;
  EXPECT_FALSE(GlmProblem::Create(Linear(), thetas).ok());
  thetas(0, 0) = kNan;
  EXPECT_FALSE(GlmProblem::Create(Linear(), thetas).ok());
  EXPECT_FALSE(GlmProblem::Create(Linear(), ActionMatrix::Ones(1, 4) / 4).ok());
  EXPECT_FALSE(GlmProblem::Create(Linear(), ActionMatrix::Ones(2, 5) / 4).ok());
}

// Compares mean rewards with mu at six standard errors; each comparison has a false-alarm rate below 2e-9.
TEST(GlmProblemTest, RewardsHaveTheirMeans) {
  constexpr int kDraws = 100'000;
  std::vector<GlmProblemParams> all = {Linear(),
                                       With(Link::kLogistic),
                                       With(Link::kProbit),
                                       With(Link::kPoisson, 1),
                                       With(Link::kPoisson, 3),
                                       With(Link::kPoisson, 50)};
  for (const RewardKind kind : {RewardKind::kRademacher, RewardKind::kUniform}) {
    all.push_back(Linear());
    all.back().reward.kind = kind;
  }
  test::Coins coins(3);
  for (const GlmProblemParams& params : all) {
    const auto problem = GlmProblem::Draw(params, 1, 0);
    ASSERT_TRUE(problem.ok()) << problem.status();
    for (const double s : {-0.9, 0.0, 0.7}) {
      const double mean = problem->mean()(s);
      double sum = 0, squares = 0;
      for (int i = 0; i < kDraws; ++i) {
        const double reward = problem->DrawReward(s, coins.gen);
        if (problem->support().has_value()) {
          ASSERT_TRUE(reward >= problem->support()->low && reward <= problem->support()->high);
        }
        sum += reward;
        squares += reward * reward;
      }
      const double average = sum / kDraws;
      const double deviation = std::sqrt((squares / kDraws - average * average) / kDraws);
      EXPECT_NEAR(average, mean, 6 * deviation + 1e-12);
    }
  }
}

TEST(GlmProblemTest, CountsArePoissonUpToTheBound) {
  const auto problem = GlmProblem::Draw(With(Link::kPoisson, 4), 1, 0);
  test::Coins coins(4);
  constexpr double kDraws = 100'000;
  std::vector<double> counts(5), masses(5);
  for (int i = 0; i < kDraws; ++i) ++counts[static_cast<std::size_t>(problem->DrawReward(0.5, coins.gen))];
  const double l = std::exp(0.5);
  double mass = std::exp(-l), left = 1;
  for (int n = 0; n < 4; ++n) {
    masses[static_cast<std::size_t>(n)] = mass;
    left -= mass;
    mass *= l / (n + 1);
  }
  masses[4] = left;
  EXPECT_TRUE(test::FitsMasses(counts, masses));
  EXPECT_EQ(problem->DrawReward(50, coins.gen), 4);
  EXPECT_EQ(problem->DrawReward(1e300, coins.gen), 4);
  EXPECT_EQ(problem->DrawReward(-1e300, coins.gen), 0);
}

TEST(GlmProblemTest, NoNoiseIsNone) {
  GlmProblemParams params = Linear();
  params.reward.sd = 0;
  test::Coins coins(5);
  EXPECT_EQ(GlmProblem::Draw(params, 1, 0)->DrawReward(0.25, coins.gen), 0.25);
}

}  // namespace
}  // namespace bandana
