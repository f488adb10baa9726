#include "bandana/bandit/contextual_problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "bandana/core/distributions.h"
#include "bandana/core/status.h"
#include "tests/support.h"

namespace bandana {
namespace {

std::shared_ptr<const PolicySet> Made(PolicySet::Params params) {
  auto set = PolicySet::Create(std::move(params));
  EXPECT_TRUE(set.ok()) << set.status();
  return *set;
}

std::shared_ptr<const PolicySet> Policies(std::shared_ptr<const ContextLaw> law, Count policies,
                                          Count samples = 0) {
  ActionMatrix thetas = *PolicyDirections(law->dimension(), policies, 1);
  return Made({.law = std::move(law), .thetas = std::move(thetas), .samples = samples, .seed = 2});
}

// A law that can only be drawn from.
class UnknownForm final : public ContextLaw {
 public:
  UnknownForm() : ContextLaw(3, 2) {}
  void Draw(CoinGen& coin, ActionMatrix& context) const override {
    context.resize(3, 2);
    for (double& entry : context.reshaped()) entry = UniformUnit(coin) * 0.7;
  }
  std::optional<ActionMatrix> Responses(const ActionMatrix&) const override { return std::nullopt; }
  Interval Means(const Vector&) const override { return {-1, 1}; }
};

TEST(PolicyDirectionsTest, AreDirections) {
  EXPECT_EQ(*PolicyDirections(1, 100, 1), (ActionMatrix(2, 1) << 1, -1).finished());
  const ActionMatrix plane = *PolicyDirections(2, 8, 1);
  for (int j = 0; j < 8; ++j) {
    EXPECT_NEAR(plane.row(j).norm(), 1, 1e-15);
    EXPECT_NEAR(plane.row(j).dot(plane.row((j + 1) % 8)), std::sqrt(0.5), 1e-12);
  }
  const ActionMatrix space = *PolicyDirections(5, 100, 1);
  EXPECT_LT((space.rowwise().norm().array() - 1).abs().maxCoeff(), 1e-14);
  EXPECT_EQ(space, *PolicyDirections(5, 100, 1));
  EXPECT_NE(space, *PolicyDirections(5, 100, 2));
  for (const Count bad : {Count{0}, Count{-1}, Count{1} << 40}) {
    EXPECT_EQ(InputErrorOf(PolicyDirections(3, bad, 1).status())->key, "policies") << bad;
  }
}

// A policy loses at most 2 |theta| sin(angle) to the best of all policies, for any contexts. The angle is
// between its theta and the true one.
// The best of a net's directions loses at most 1 in all over the horizon, if contexts have the same law in
// all directions. With too few numbers the net is as fine as they allow.
TEST(PolicyNetTest, IsFineEnoughForTheHorizonOrAsFineAsItMayBe) {
  EXPECT_EQ(PolicyNet(1, 1000, 1 << 20)->rows(), 2);
  PhiloxSource source({.seed = 3});
  CoinGen coin(source);
  for (const Count d : {2, 3, 4}) {
    constexpr double kHorizon = 300;
    const ActionMatrix net = *PolicyNet(d, kHorizon, 1 << 20);
    const ActionMatrix few = *PolicyNet(d, kHorizon, 100);
    EXPECT_LE(few.size(), 100);
    EXPECT_GT(few.rows(), d);
    for (int i = 0; i < 50; ++i) {
      Vector theta(d);
      for (Count j = 0; j < d; ++j) theta[j] = StandardNormal(coin);
      theta.normalize();
      EXPECT_LE(kHorizon * (1 - (net * theta).maxCoeff()), 1 + 1e-9) << d;
    }
  }
  EXPECT_LT(PolicyNet(3, 100, 1 << 20)->rows(), PolicyNet(3, 10'000, 1 << 20)->rows());
}

TEST(ContextualProblemTest, NearbyPoliciesLoseLittle) {
  test::Coins coins(3);
  ActionMatrix stacked(400, 3);
  for (double& entry : stacked.reshaped()) entry = (2 * UniformUnit(coins.gen) - 1) / 2;
  const std::vector<std::shared_ptr<const ContextLaw>> laws = {
      *SphereContexts::Create(8, 3), *GaussianContexts::Create(8, 3), *ClusterContexts::Two(8, 3),
      *SampledContexts::Create(stacked, 4)};
  for (const auto& law : laws) {
    const auto policies = Policies(law, 60);
    for (std::uint32_t replicate = 1; replicate <= 5; ++replicate) {
      const auto problem = ContextualProblem::Draw(policies, 0.9, 4, replicate);
      ASSERT_TRUE(problem.ok()) << problem.status();
      const Vector direction = problem->theta().normalized();
      EXPECT_NEAR(problem->theta().norm(), 0.9, 1e-12);
      for (Eigen::Index j = 0; j < policies->thetas().rows(); ++j) {
        const double cosine = policies->thetas().row(j).dot(direction);
        const double gap = problem->linear().Gap(static_cast<ArmId>(j));
        EXPECT_GE(gap, -1e-9);
        if (cosine <= 0) continue;
        EXPECT_LE(gap, 2 * 0.9 * std::sqrt(1 - cosine * cosine) + 1e-9);
      }
    }
  }
}

TEST(ContextualProblemTest, TheSphereIsAScaledLinearProblem) {
  const auto policies = Policies(*SphereContexts::Create(5, 3), 10);
  const Vector theta = (Vector(3) << 0, 0.6, 0).finished();
  const auto problem = ContextualProblem::Create(policies, theta);
  ASSERT_TRUE(problem.ok());
  EXPECT_NEAR(problem->linear().optimum(), 0.6 * 4 / 6, 1e-11);
  for (ArmId j = 0; j < 10; ++j) {
    EXPECT_NEAR(problem->linear().means()[j], 0.6 * 4 / 6 * policies->thetas()(j, 1), 1e-11);
  }
  EXPECT_FALSE(ContextualProblem::Create(policies, Vector::Zero(3)).ok());
  EXPECT_FALSE(ContextualProblem::Create(policies, Vector::Ones(2)).ok());
  EXPECT_FALSE(ContextualProblem::Create(policies, Vector::Ones(3)).ok());  // the norm is above 1
}

// Two contexts with two actions each can be played in four ways, so a thousand policies make at most four.
TEST(PolicySetTest, PoliciesThatPlayAlikeAreKeptOnce) {
  ActionMatrix stacked(4, 2);
  stacked << 1, 0, 0, 1, -0.5, 0, 0.5, 0.1;
  const auto policies = Policies(*SampledContexts::Create(stacked, 2), 1000);
  EXPECT_EQ(policies->responses().rows(), 4);
  EXPECT_EQ(policies->thetas().rows(), 4);
  EXPECT_TRUE(policies->law().Responses(policies->thetas())->isApprox(policies->responses()));
  EXPECT_EQ(policies->misspecification(), 0);
}

TEST(PolicySetTest, SamplesOfAKnownLawLeaveAnErrorAndTheTruthBeside) {
  const auto policies = Policies(*SphereContexts::Create(5, 2), 64, 5000);
  EXPECT_NEAR(policies->misspecification(), std::sqrt(2 * std::log(2 * 64 / 1e-6) / 5000), 1e-12);
  EXPECT_TRUE(policies->truth_is_exact());
  EXPECT_TRUE(policies->truth().isApprox(*policies->law().Responses(policies->thetas())));
  EXPECT_FALSE(policies->responses().isApprox(policies->truth(), 1e-6));
  EXPECT_TRUE(policies->responses().isApprox(policies->truth(), 0.1));
  const auto problem = ContextualProblem::Draw(policies, 1, 3, 1);
  ASSERT_TRUE(problem.ok());
  EXPECT_EQ(problem->linear().actions(), policies->truth());
}

TEST(PolicySetTest, ALawWithoutAFormNeedsSamples) {
  const auto law = std::make_shared<const UnknownForm>();
  const ActionMatrix thetas = *PolicyDirections(2, 32, 1);
  const auto refused = PolicySet::Create({.law = law, .thetas = thetas});
  EXPECT_EQ(InputErrorOf(refused.status())->key, "context_samples");
  EXPECT_FALSE(PolicySet::Create({.law = law, .thetas = thetas, .samples = -1}).ok());
  const auto policies = Made({.law = law, .thetas = thetas, .samples = 500, .seed = 1});
  EXPECT_FALSE(policies->truth_is_exact());
  for (std::uint32_t replicate = 1; replicate <= 20; ++replicate) {
    const auto problem = ContextualProblem::Draw(policies, 1, 5, replicate);
    ASSERT_TRUE(problem.ok()) << problem.status();
    EXPECT_GE(problem->linear().optimum(), problem->linear().means().maxCoeff());
  }
}

}  // namespace
}  // namespace bandana
