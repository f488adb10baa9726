#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "bandana/bandit/worlds/contextual_population.h"
#include "bandana/lab/experiment.h"
#include "bandana/lab/spec.h"
#include "tests/lab/worlds_of.h"
#include "tests/support.h"

// Compares the closed forms of g with drawn contexts. Seeds are fixed. Every coordinate is compared at five
// standard errors, a false-alarm rate of 6e-7 each. A law with half as many actions more must be told apart.
namespace bandana {
namespace {

struct Case {
  std::string name;
  std::shared_ptr<const ContextLaw> law;
  std::shared_ptr<const ContextLaw> another;  // with half as many actions more
};

std::vector<Case> Laws() {
  std::vector<Case> cases;
  for (const auto& [actions, dimension] : {std::pair<Count, Count>{2, 2}, {10, 2}, {5, 3}, {20, 8}}) {
    const std::string size = " " + std::to_string(actions) + " " + std::to_string(dimension);
    cases.push_back({"sphere" + size, *SphereContexts::Create(actions, dimension),
                     *SphereContexts::Create(actions + actions / 2 + 1, dimension)});
    cases.push_back({"gaussian" + size, *GaussianContexts::Create(actions, dimension),
                     *GaussianContexts::Create(actions + actions / 2 + 1, dimension)});
    cases.push_back({"clusters" + size, *ClusterContexts::Two(actions, dimension),
                     *ClusterContexts::Two(actions + actions / 2 + 1, dimension)});
  }
  cases.push_back({"sphere 3 1", *SphereContexts::Create(3, 1), *SphereContexts::Create(4, 1)});
  cases.push_back({"gaussian 3 1", *GaussianContexts::Create(3, 1), *GaussianContexts::Create(4, 1)});
  return cases;
}

// Returns the largest distance between a mean pick and g, in standard errors, over policies and coordinates.
double Deviation(const ContextLaw& law, const ActionMatrix& responses, const ActionMatrix& thetas,
                 std::uint64_t seed) {
  constexpr int kContexts = 40'000;
  test::Coins coins(seed);
  ActionMatrix context(law.actions(), law.dimension());
  ActionMatrix sum = ActionMatrix::Zero(thetas.rows(), thetas.cols());
  ActionMatrix squares = sum;
  for (int i = 0; i < kContexts; ++i) {
    law.Draw(coins.gen, context);
    for (Eigen::Index j = 0; j < thetas.rows(); ++j) {
      const auto pick = context.row(PickAction(context, thetas.row(j)));
      sum.row(j) += pick;
      squares.row(j) += pick.cwiseAbs2();
    }
  }
  const ActionMatrix means = sum / kContexts;
  const ActionMatrix variances = (squares / kContexts - means.cwiseAbs2()).cwiseMax(1e-12);
  return ((means - responses).array().abs() / (variances.array() / kContexts).sqrt()).maxCoeff();
}

TEST(ContextsTest, ClosedFormsAreTheMeansOfPicks) {
  std::uint64_t seed = 1;
  for (const Case& setting : Laws()) {
    const ActionMatrix thetas = *PolicyDirections(setting.law->dimension(), 3, 7);
    const ActionMatrix responses = *setting.law->Responses(thetas);
    EXPECT_LT(Deviation(*setting.law, responses, thetas, ++seed), 5) << setting.name;
    EXPECT_GT(Deviation(*setting.another, responses, thetas, ++seed), 5) << setting.name;
  }
}

// The error that SampleResponses states holds at its level, and has the right size.
TEST(ContextsTest, SamplesErrAsStated) {
  constexpr double kLevel = 0.1;
  constexpr int kRuns = 400;
  const auto law = *ClusterContexts::Two(5, 2);
  const ActionMatrix thetas = *PolicyDirections(2, 8, 1);
  const ActionMatrix truth = *law->Responses(thetas);
  const Vector theta = (Vector(2) << 0.6, 0.8).finished();
  int exceeded = 0;
  double largest = 0;
  test::Coins coins(9);
  for (int run = 0; run < kRuns; ++run) {
    const auto sampled = SampleResponses(*law, thetas, 50, kLevel, coins.gen);
    ASSERT_TRUE(sampled.ok());
    const double off = ((sampled->responses - truth) * theta).cwiseAbs().maxCoeff();
    exceeded += off > sampled->error ? 1 : 0;
    largest = std::max(largest, off / sampled->error);
  }
  EXPECT_LE(exceeded, kLevel * kRuns);
  EXPECT_GT(largest, 0.2);
}

constexpr const char* kSpec = R"(
horizon = 1000000
seed = 3
[environment]
kind = "contextual-linear"
contexts = "clusters"
dimension = 2
actions = 10
reward = "rademacher"
[algorithm]
name = "private-elimination"
[privacy]
model = "central"
noise = "laplace"
epsilon = 1
)";

struct Learning {
  double early = 0;  // regret at T/100
  double late = 0;   // regret at T
  int lost = 0;      // runs in which the best policy was eliminated
};

Learning Learn(const std::vector<std::string>& set) {
  constexpr std::uint32_t kRuns = 8;
  std::vector<std::string> all = set;
  all.emplace_back("checkpoints=[10000, 1000000]");
  const auto spec = lab::ParseSpec(kSpec, "x.toml", all);
  EXPECT_TRUE(spec.ok()) << spec.status();
  const std::atomic<bool> stop = false;
  Learning learning;
  for (std::uint32_t replicate = 0; replicate < kRuns; ++replicate) {
    const lab::Settings& settings = spec->points[0].settings;
    const auto outcome = lab::RunReplicate(settings, replicate, stop);
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    const auto problem = lab::MakeProblem(settings, replicate);
    learning.early += outcome->checkpoints.front().regret / kRuns;
    learning.late += outcome->checkpoints.back().regret / kRuns;
    const std::vector<ArmId>& left = outcome->phases.back().active;
    learning.lost += std::find(left.begin(), left.end(), (*problem)->best()) == left.end() ? 1 : 0;
  }
  return learning;
}

// A hundred times the rounds cost less than thirty times the regret (sqrt(T) would be ten times). The best of
// 256 policies survives: each run loses it with probability at most 256 phases / (256 T).
TEST(ContextsTest, RegretIsSublinearAndTheBestPolicyIsKept) {
  const Learning central = Learn({});
  EXPECT_LT(central.late, 30 * central.early);
  EXPECT_EQ(central.lost, 0);
  const Learning open = Learn({"privacy.model=none"});
  EXPECT_LT(open.late, central.late * 1.2);
  EXPECT_EQ(open.lost, 0);
  // If the law is known from samples, policies that differ by less than the samples' error cannot be told
  // apart. No policy is lost that is better by more than that.
  const Learning sampled = Learn({"environment.context_samples=20000"});
  EXPECT_EQ(sampled.lost, 0);
  EXPECT_GE(sampled.late, central.late);
}

}  // namespace
}  // namespace bandana
