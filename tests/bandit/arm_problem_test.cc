#include "bandana/bandit/worlds/arm_problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "bandana/core/status.h"
#include "tests/support.h"

// Seeds are fixed. Laws are compared with the Kolmogorov-Smirnov test at a false-alarm rate of 1e-6.
namespace bandana {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

NodeId Agent(Count i) { return NodeId{static_cast<std::uint32_t>(i)}; }

std::string KeyOf(const absl::StatusOr<ArmProblem>& problem) {
  return problem.ok() ? "ok" : InputErrorOf(problem.status()).value_or(InputError{}).key;
}

ArmProblem Drawn(const ArmDraw& draw, std::uint64_t seed) {
  test::Coins coins(seed);
  return ArmProblem::Draw(draw, coins.gen).value();
}

TEST(ArmProblemTest, KnowsItsMeansAndItsOptimum) {
  const ArmProblem problem = ArmProblem::FromMeans({0.5, 0.25, 1, 0.5, 0.75, 0}, 2).value();
  EXPECT_EQ(problem.agents(), 2);
  EXPECT_EQ(problem.arms(), 3);
  EXPECT_EQ(problem.Mean(Agent(1), 1), 0.25);
  EXPECT_EQ(problem.Mean(Agent(2), 0), 0.5);
  EXPECT_EQ(problem.Mean(Agent(2), 2), 0);
  for (ArmId arm = 0; arm < 3; ++arm) EXPECT_EQ(problem.GlobalMean(arm), 0.5);
  EXPECT_EQ(problem.best(), 0) << "the first of equals";
  EXPECT_EQ(problem.smallest_gap(), 0);
  EXPECT_EQ(problem.lowest_mean(), 0);
}

TEST(ArmProblemTest, TheSmallestGapIsTheLeastPositiveOne) {
  const ArmProblem problem = ArmProblem::Alike({0.25, 0.75, 0.5, 0.75}, 7).value();
  EXPECT_EQ(problem.agents(), 7);
  EXPECT_EQ(problem.best(), 1);
  EXPECT_EQ(problem.Gap(0), 0.5);
  EXPECT_EQ(problem.Gap(3), 0);
  EXPECT_EQ(problem.smallest_gap(), 0.25);
  EXPECT_EQ(problem.Mean(Agent(7), 2), 0.5);
  EXPECT_EQ(problem.lowest_mean(), 0.25);
  EXPECT_FALSE(problem.Contains(NodeId{0}));
  EXPECT_FALSE(problem.Contains(NodeId{8}));
  EXPECT_FALSE(problem.Contains(ArmId{4}));
  EXPECT_FALSE(problem.Contains(ArmId{-1}));
}

TEST(ArmProblemTest, TheAverageOfEqualsIsExact) {
  const std::vector<double> means(49, 0.1);
  EXPECT_EQ(ArmProblem::FromMeans(means, 49)->GlobalMean(0), 0.1);
}

TEST(ArmProblemTest, MeansAreUniform) {
  const ArmProblem problem = Drawn({.agents = 3, .arms = 20'000}, 1);
  std::vector<double> means;
  for (ArmId arm = 0; arm < problem.arms(); ++arm) means.push_back(problem.GlobalMean(arm));
  EXPECT_TRUE(test::FitsCdf(means, [](double x) { return x; }));
  EXPECT_EQ(problem.Mean(Agent(1), 5), problem.Mean(Agent(3), 5));
}

TEST(ArmProblemTest, AGapScalesTheOthersAndLiftsTheBest) {
  const ArmProblem plain = Drawn({.agents = 1, .arms = 20}, 2);
  const ArmProblem apart = Drawn({.agents = 1, .arms = 20, .gap = 0.25}, 2);
  EXPECT_EQ(apart.best(), plain.best());
  for (ArmId arm = 0; arm < 20; ++arm) {
    const double lift = arm == plain.best() ? 0.25 : 0;
    EXPECT_DOUBLE_EQ(apart.GlobalMean(arm), 0.75 * plain.GlobalMean(arm) + lift);
  }
  const ArmProblem whole = Drawn({.agents = 1, .arms = 4, .gap = 1}, 3);
  EXPECT_EQ(whole.GlobalMean(whole.best()), 1);
  EXPECT_EQ(whole.smallest_gap(), 1);
  EXPECT_EQ(Drawn({.agents = 1, .arms = 1, .gap = 0.5}, 4).smallest_gap(), 0);
}

RC_GTEST_PROP(ArmProblemProperty, DeviationsAreOfTheirSizeAndCancel, ()) {
  const ArmDraw draw{.agents = *rc::gen::inRange<Count>(1, 30),
                     .arms = *rc::gen::inRange<Count>(1, 12),
                     .gap = *rc::gen::inRange(0, 11) / 10.,
                     .heterogeneous = *rc::gen::inRange(0, 11) / 10.};
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  ArmDraw same = draw;
  same.heterogeneous = 0;
  const ArmProblem alike = Drawn(same, seed);
  const ArmProblem problem = Drawn(draw, seed);
  if (draw.arms > 1) RC_ASSERT(problem.smallest_gap() >= draw.gap - 1e-12);
  for (ArmId arm = 0; arm < draw.arms; ++arm) {
    const double mean = alike.GlobalMean(arm);
    double sum = 0;
    double farthest = 0;
    for (Count i = 1; i <= draw.agents; ++i) {
      const double own = problem.Mean(Agent(i), arm);
      RC_ASSERT(own >= 0 && own <= 1);
      sum += own;
      farthest = std::max(farthest, std::abs(own - mean));
    }
    const double reach = draw.agents == 1 ? 0 : draw.heterogeneous * std::min(mean, 1 - mean);
    RC_ASSERT(std::abs(problem.GlobalMean(arm) - mean) <= 1e-14);
    RC_ASSERT(std::abs(problem.GlobalMean(arm) - sum / static_cast<double>(draw.agents)) <= 1e-14);
    RC_ASSERT(std::abs(farthest - reach) <= 1e-14);
  }
}

// Two agents deviate equally to opposite sides. For three agents the shares are those of three uniform draws.
TEST(ArmProblemTest, DeviationsHaveTheirLaw) {
  const ArmProblem pair = Drawn({.agents = 2, .arms = 2, .heterogeneous = 0.5, .means = {0.5, 0.8}}, 5);
  EXPECT_DOUBLE_EQ(std::abs(pair.Mean(Agent(1), 0) - 0.5), 0.25);
  EXPECT_DOUBLE_EQ(std::abs(pair.Mean(Agent(1), 1) - 0.8), 0.1);
  EXPECT_DOUBLE_EQ(pair.Mean(Agent(1), 0) + pair.Mean(Agent(2), 0), 1);

  constexpr Count kArms = 20'000;
  const ArmProblem three =
      Drawn({.agents = 3, .arms = kArms, .heterogeneous = 1, .means = std::vector<double>(kArms, 0.5)}, 6);
  std::vector<double> drawn, expected;
  test::Coins coins(7);
  for (ArmId arm = 0; arm < kArms; ++arm) {
    drawn.push_back(2 * three.Mean(Agent(2), arm) - 1);
    std::vector<double> u(3);
    for (double& each : u) each = static_cast<double>(coins.gen() >> 11) * 0x1p-53;
    const double mean = (u[0] + u[1] + u[2]) / 3;
    double farthest = 0;
    for (const double each : u) farthest = std::max(farthest, std::abs(each - mean));
    expected.push_back((u[1] - mean) / farthest);
  }
  EXPECT_TRUE(test::SameLaw(drawn, expected));
}

TEST(ArmProblemTest, GivenMeansAreKept) {
  const ArmProblem problem = Drawn({.agents = 4, .arms = 3, .means = {0, 0.3, 1}}, 8);
  EXPECT_EQ(problem.GlobalMean(1), 0.3);
  const ArmProblem spread = Drawn({.agents = 4, .arms = 3, .heterogeneous = 1, .means = {0, 0.3, 1}}, 8);
  for (Count i = 1; i <= 4; ++i) {
    EXPECT_EQ(spread.Mean(Agent(i), 0), 0) << "there is no room at an end";
    EXPECT_EQ(spread.Mean(Agent(i), 2), 1);
  }
  EXPECT_NE(spread.Mean(Agent(1), 1), spread.Mean(Agent(2), 1));
}

TEST(ArmProblemTest, NamesWhatIsWrong) {
  test::Coins coins(9);
  const auto key = [&](const ArmDraw& draw) { return KeyOf(ArmProblem::Draw(draw, coins.gen)); };
  EXPECT_EQ(key({.agents = 1, .arms = 1}), "ok");
  for (const Count count : {Count{-1}, Count{0}, (Count{1} << 20) + 1}) {
    EXPECT_EQ(key({.agents = count, .arms = 2}), "agents");
    EXPECT_EQ(key({.agents = 2, .arms = count}), "actions");
    EXPECT_EQ(KeyOf(ArmProblem::FromMeans({0.5}, count)), "agents");
    EXPECT_EQ(KeyOf(ArmProblem::Alike({0.5}, count)), "agents");
  }
  for (const double bad : {-0.1, 1.1, kNan, kInfinity, -kInfinity}) {
    EXPECT_EQ(key({.agents = 2, .arms = 2, .gap = bad}), "gap");
    EXPECT_EQ(key({.agents = 2, .arms = 2, .heterogeneous = bad}), "heterogeneous");
    EXPECT_EQ(key({.agents = 2, .arms = 2, .means = {0.5, bad}}), "means");
    EXPECT_EQ(KeyOf(ArmProblem::FromMeans({0.5, bad}, 1)), "means");
    EXPECT_EQ(KeyOf(ArmProblem::Alike({0.5, bad}, 1)), "means");
  }
  EXPECT_EQ(key({.agents = 2, .arms = 2, .means = {0.5}}), "means");
  EXPECT_EQ(key({.agents = 2, .arms = 1, .gap = 0.1, .means = {0.5}}), "gap");
  EXPECT_EQ(key({.agents = 1 << 20, .arms = 1000, .heterogeneous = 0.1}), "actions");
  EXPECT_EQ(KeyOf(ArmProblem::FromMeans({}, 1)), "means");
  EXPECT_EQ(KeyOf(ArmProblem::FromMeans({0.5, 0.5, 0.5}, 2)), "means");
  EXPECT_EQ(KeyOf(ArmProblem::Alike({}, 1)), "means");
}

}  // namespace
}  // namespace bandana
